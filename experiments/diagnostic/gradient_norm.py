"""How hard the loss pulls: on the whole model, on each layer, on each kind of part; and whether it jumps."""

from collections.abc import Sequence

import torch
from torch import Tensor

from analysis.record.measure import TRAINED, Measure
from components.domains import Count
from components.model import Decoder
from experiments.diagnostic import Diagnostic, diagnostics
from experiments.instruments.observed_trial import ObservedTrial
from experiments.instruments.parameter_groups import GroupNorms, parameter_groups
from experiments.instruments.spikes import spike_share

SPIKES = Measure("gradient_spikes", "share of steps", "lower")


@diagnostics.register("gradient_norm")
class GradientNorm(Diagnostic):
    """‖g‖₂ before clipping: of all parameters, each layer, each kind of part; how it changes with depth; how often it
    was clipped, and how often it leapt 7 robust standard deviations above the steps before

    `slope` is that of ln ‖g‖ over the layers, `first_to_last` the first layer's norm over the last one's; NaN where a
    layer has no gradient.
    Source: Pascanu et al. 2013, arXiv:1211.5063, section 3.2; over depth, Xiong et al. 2020, arXiv:2002.04745.
    """

    def __init__(self, *, every: Count = 1) -> None:
        self.every = every
        self._norms: GroupNorms
        self._slope = torch.empty(0)

    def measures(self, model: Decoder) -> Sequence[Measure]:
        """One norm for each group of parameters that holds any; what depth does, if there is any."""
        found = [
            Measure(f"gradient_norm/{group}", "nats/token", reduction="median", about=TRAINED)
            for group in parameter_groups(model)
        ]
        found.append(Measure("gradient_norm/clipped", "share of steps", reduction="mean"))
        if _layers(list(parameter_groups(model))) > 1:
            found.append(Measure("gradient_norm/slope", "ln per layer", reduction="median"))
            found.append(Measure("gradient_norm/first_to_last", "1", reduction="median"))
        return [*found, SPIKES]

    def on_fit_start(self, trial: ObservedTrial) -> None:
        self._norms = GroupNorms(trial.model, trial.device)
        depth = torch.arange(_layers(self._norms.names), device=trial.device, dtype=torch.float32)
        self._slope = (depth - depth.mean()) / (depth - depth.mean()).square().sum()

    def on_before_optimizer_step(self, trial: ObservedTrial) -> None:
        if trial.step % self.every:
            return
        norms = self._norms(trial.gradient_norms())
        for name, norm in zip(self._norms.names, norms.unbind(), strict=True):
            trial.recorder.record(f"gradient_norm/{name}", norm)
        limit = trial.clip
        trial.recorder.record("gradient_norm/clipped", norms[0] > (limit or torch.inf))
        if len(self._slope) > 1:
            self._record_depth(trial, norms[1 : 1 + len(self._slope)])

    def _record_depth(self, trial: ObservedTrial, norms: Tensor) -> None:
        there = norms.min() > torch.finfo(norms.dtype).tiny
        trial.recorder.record("gradient_norm/slope", torch.where(there, norms.log() @ self._slope, torch.nan))
        trial.recorder.record("gradient_norm/first_to_last", torch.where(there, norms[0] / norms[-1], torch.nan))

    def on_train_end(self, trial: ObservedTrial) -> None:
        trial.recorder.record("gradient_spikes", spike_share(trial.recorder.series("gradient_norm/total")))


def _layers(names: list[str]) -> int:
    """How many layers hold parameters; they come after the total."""
    return sum(name.startswith("layers.") for name in names)
