"""How hard the loss pulls on the whole model, on each layer and on each end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch

from components.model import Decoder
from experiments.diagnostic import Diagnostic, diagnostics
from experiments.measure import Measure

if TYPE_CHECKING:
    from experiments.task import LanguageModeling


@diagnostics.register("gradient_norm")
class GradientNorm(Diagnostic):
    """‖g‖₂ before clipping: of all parameters, of each layer, of embedding and readout; and whether it was clipped

    Source: Pascanu et al. 2013, arXiv:1211.5063, section 3.2 (the norm that clipping bounds).
    """

    def __init__(self, *, every: int = 1) -> None:
        self.every = every
        self._names: list[str] = []
        self._members = torch.empty(0)

    def measures(self, model: Decoder) -> Sequence[Measure]:
        """One norm for each group of parameters that holds any."""
        norms = [Measure(f"gradient_norm/{group}", "nats/token", reduction="median") for group in _groups(model)]
        return [*norms, Measure("gradient_norm/clipped", "share of steps", reduction="mean")]

    def on_fit_start(self, task: LanguageModeling) -> None:
        groups, order = _groups(task.model), {id(p): i for i, p in enumerate(task.model.parameters())}
        self._names, self._members = list(groups), torch.zeros(len(groups), len(order), device=task.device)
        for row, group in enumerate(groups.values()):
            self._members[row, [order[p] for p in group]] = 1.0

    def on_before_optimizer_step(self, task: LanguageModeling) -> None:
        if task.step % self.every:
            return
        norms = (self._members @ task.gradient_norms().float().square()).sqrt()
        for name, norm in zip(self._names, norms.unbind(), strict=True):
            task.recorder.record(f"gradient_norm/{name}", norm)
        limit = task.trainer.gradient_clip_val
        task.recorder.record("gradient_norm/clipped", norms[0] > (limit or torch.inf))


def _groups(model: Decoder) -> dict[str, list[int]]:
    """Parameters' identities by group: everything, each layer, each other child of the model."""
    children = {name: child for name, child in model.named_children() if name != "layers"}
    children |= {f"layers.{i}": layer for i, layer in enumerate(model.layers)}
    found = {name: [id(p) for p in module.parameters()] for name, module in {"total": model, **children}.items()}
    return {name: parameters for name, parameters in found.items() if parameters}
