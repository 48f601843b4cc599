"""How fast a trial trains, and how much memory it takes."""

import copy
import time
from collections.abc import Sequence

import torch

from analysis.record.measure import Measure
from components.domains import Count, Positive
from components.model import Decoder
from experiments.diagnostic import Diagnostic, diagnostics
from experiments.instruments.cost import peak_memory, training_flops
from experiments.instruments.observed_trial import ObservedTrial


@diagnostics.register("speed")
class Speed(Diagnostic):
    """Tokens a second of wall time over the last `span` of `every` steps, validation not among them; model FLOPs
    utilisation, training FLOPs a token · tokens a second / the device's peak; the most memory held

    `peak_teraflops` is the device's, by default what Lightning knows of it; without either there is no utilisation.
    Depends on the machine and on what else runs there: two runs of a trial differ in these columns.
    Source: Chowdhery et al. 2022 (PaLM), arXiv:2204.02311, section 4.1 (with attention over all of T²).
    """

    def __init__(self, *, every: Count = 100, span: Count = 20, peak_teraflops: Positive | None = None) -> None:
        self.every, self.span, self.peak_teraflops = every, min(span, every), peak_teraflops
        self._began: tuple[int, int, float] | None = None
        self._flops, self._available = 0.0, 0.0

    def measures(self, model: Decoder) -> Sequence[Measure]:
        """Three."""
        return [
            Measure("tokens_per_second", "tokens/s", "higher", "median", "alone"),
            Measure("mfu", "share of peak", "higher", "median", "alone"),
            Measure("peak_memory", "MB", "lower", repeats="roughly"),
        ]

    def on_fit_start(self, trial: ObservedTrial) -> None:
        from lightning.fabric.utilities.throughput import get_available_flops  # planning can do without

        self._flops = training_flops(copy.deepcopy(trial.model).to("meta"))
        precise = torch.bfloat16 if "bf16" in trial.precision else torch.float32
        known = get_available_flops(trial.device, precise) if trial.device.type == "cuda" else 0
        self._available = (self.peak_teraflops * 1e12 if self.peak_teraflops else float(known or 0)) * trial.world

    def on_train_batch_end(self, trial: ObservedTrial) -> None:
        if self._began is not None and trial.step % self.every == 0:
            self._record(trial, *self._began)
        if (trial.step + self.span) % self.every == 0:
            self._began = (trial.step, trial.tokens, _now(trial))
        if trial.step == trial.steps:
            trial.recorder.record("peak_memory", torch.tensor(peak_memory(trial.device) / 1e6, device=trial.device))

    def _record(self, trial: ObservedTrial, step: int, tokens: int, began: float) -> None:
        """The pace since then, if no validation came between."""
        if trial.validated < step:
            pace = (trial.tokens - tokens) / (_now(trial) - began)
            trial.recorder.record("tokens_per_second", torch.tensor(pace, device=trial.device))
            if self._available:
                trial.recorder.record("mfu", torch.tensor(pace * self._flops / self._available, device=trial.device))


def _now(trial: ObservedTrial) -> float:
    """Seconds, once the device has done what it was told."""
    if trial.device.type == "cuda":
        torch.cuda.synchronize(trial.device)
    return time.perf_counter()
