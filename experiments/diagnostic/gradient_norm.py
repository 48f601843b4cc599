"""How hard the loss pulls: on the whole model, on each layer, on each kind of part; and whether it jumps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from components.model import Decoder
from experiments.diagnostic import Diagnostic, diagnostics
from experiments.groups import Norms, groups
from experiments.measure import Measure
from experiments.spikes import spikes

if TYPE_CHECKING:
    from experiments.task import LanguageModeling

SPIKES = Measure("gradient_spikes", "share of steps", "lower")


@diagnostics.register("gradient_norm")
class GradientNorm(Diagnostic):
    """‖g‖₂ before clipping: of all parameters, each layer, each kind of part; how it changes with depth; how often it
    was clipped, and how often it leapt 7 robust standard deviations above the steps before

    `slope` is that of ln ‖g‖ over the layers, `first_to_last` the first layer's norm over the last one's.
    Source: Pascanu et al. 2013, arXiv:1211.5063, section 3.2; over depth, Xiong et al. 2020, arXiv:2002.04745.
    """

    def __init__(self, *, every: int = 1) -> None:
        self.every = every
        self._norms: Norms
        self._slope = torch.empty(0)

    def measures(self, model: Decoder) -> Sequence[Measure]:
        """One norm for each group of parameters that holds any; what depth does, if there is any."""
        found = [Measure(f"gradient_norm/{group}", "nats/token", reduction="median") for group in groups(model)]
        found.append(Measure("gradient_norm/clipped", "share of steps", reduction="mean"))
        if _layers(list(groups(model))) > 1:
            found.append(Measure("gradient_norm/slope", "ln per layer", reduction="median"))
            found.append(Measure("gradient_norm/first_to_last", "1", reduction="median"))
        return [*found, SPIKES]

    def on_fit_start(self, task: LanguageModeling) -> None:
        self._norms = Norms(task.model, task.device)
        depth = torch.arange(_layers(self._norms.names), device=task.device, dtype=torch.float32)
        self._slope = (depth - depth.mean()) / (depth - depth.mean()).square().sum()

    def on_before_optimizer_step(self, task: LanguageModeling) -> None:
        if task.step % self.every:
            return
        norms = self._norms(task.gradient_norms())
        for name, norm in zip(self._norms.names, norms.unbind(), strict=True):
            task.recorder.record(f"gradient_norm/{name}", norm)
        limit = task.trainer.gradient_clip_val
        task.recorder.record("gradient_norm/clipped", norms[0] > (limit or torch.inf))
        if len(self._slope) > 1:
            self._record_depth(task, norms[1 : 1 + len(self._slope)])

    def _record_depth(self, task: LanguageModeling, norms: Tensor) -> None:
        task.recorder.record("gradient_norm/slope", norms.log() @ self._slope)
        task.recorder.record("gradient_norm/first_to_last", norms[0] / norms[-1])

    def on_train_end(self, task: LanguageModeling) -> None:
        task.recorder.record("gradient_spikes", spikes(task.recorder.series("gradient_norm/total")))


def _layers(names: list[str]) -> int:
    """How many layers hold parameters; they come after the total."""
    return sum(name.startswith("layers.") for name in names)
