"""How fast a trial trains, and how much memory it takes."""

from __future__ import annotations

import copy
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch

from components.model import Decoder
from experiments.budget import training_flops
from experiments.diagnostic import Diagnostic, diagnostics
from experiments.measure import Measure
from experiments.memory import peak

if TYPE_CHECKING:
    from experiments.task import LanguageModeling


@diagnostics.register("speed")
class Speed(Diagnostic):
    """Tokens a second of wall time over the last `span` of `every` steps, validation not among them; model FLOPs
    utilisation, training FLOPs a token · tokens a second / the device's peak; the most memory held

    `peak_teraflops` is the device's, by default what Lightning knows of it; without either there is no utilisation.
    Depends on the machine and on what else runs there: two runs of a trial differ in these columns.
    Source: Chowdhery et al. 2022 (PaLM), arXiv:2204.02311, section 4.1 (with attention over all of T²).
    """

    def __init__(self, *, every: int = 100, span: int = 20, peak_teraflops: float | None = None) -> None:
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

    def on_fit_start(self, task: LanguageModeling) -> None:
        from lightning.fabric.utilities.throughput import get_available_flops  # planning can do without

        self._flops = training_flops(copy.deepcopy(task.model).to("meta"))
        precise = torch.bfloat16 if "bf16" in str(task.trainer.precision) else torch.float32
        known = get_available_flops(task.device, precise) if task.device.type == "cuda" else 0
        self._available = (self.peak_teraflops * 1e12 if self.peak_teraflops else float(known or 0)) * task.rank.world

    def on_train_batch_end(self, task: LanguageModeling) -> None:
        if self._began is not None and task.step % self.every == 0:
            self._record(task, *self._began)
        if (task.step + self.span) % self.every == 0:
            self._began = (task.step, task.tokens, _now(task))
        if task.step == task.steps:
            task.recorder.record("peak_memory", torch.tensor(peak(task.device) / 1e6, device=task.device))

    def _record(self, task: LanguageModeling, step: int, tokens: int, began: float) -> None:
        """The pace since then, if no validation came between."""
        if task.validated < step:
            pace = (task.tokens - tokens) / (_now(task) - began)
            task.recorder.record("tokens_per_second", torch.tensor(pace, device=task.device))
            if self._available:
                task.recorder.record("mfu", torch.tensor(pace * self._flops / self._available, device=task.device))


def _now(task: LanguageModeling) -> float:
    """Seconds, once the device has done what it was told."""
    if task.device.type == "cuda":
        torch.cuda.synchronize(task.device)
    return time.perf_counter()
