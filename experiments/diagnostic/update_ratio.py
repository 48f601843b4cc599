"""How far a step moves the weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from components.model import Decoder
from experiments.diagnostic import Diagnostic, diagnostics
from experiments.groups import Norms, groups
from experiments.measure import Measure

if TYPE_CHECKING:
    from experiments.task import LanguageModeling


@diagnostics.register("update_ratio")
class UpdateRatio(Diagnostic):
    """‖w′ − w‖₂ / ‖w‖₂ of a step, weight decay included: of all parameters, each layer, each kind of part

    Source: the ratio of Yang et al. 2022, arXiv:2203.03466 (muP), appendix J; of whole groups, not of single matrices.
    """

    def __init__(self, *, every: int = 50) -> None:
        self.every = every
        self._norms: Norms
        self._before: list[Tensor] = []

    def measures(self, model: Decoder) -> Sequence[Measure]:
        """One ratio for each group of parameters."""
        return [Measure(f"update_ratio/{group}", "1", reduction="median") for group in groups(model)]

    def on_fit_start(self, task: LanguageModeling) -> None:
        self._norms = Norms(task.model, task.device)

    def on_before_optimizer_step(self, task: LanguageModeling) -> None:
        if task.step % self.every == 0:
            self._before = [parameter.detach().clone() for parameter in task.model.parameters()]

    def on_train_batch_end(self, task: LanguageModeling) -> None:
        if not self._before:
            return
        with torch.no_grad():
            moved = [now - before for now, before in zip(task.model.parameters(), self._before, strict=True)]
            moves, sizes = (torch.stack(torch._foreach_norm(each)) for each in (moved, self._before))  # pyright: ignore[reportPrivateImportUsage]
            ratios = self._norms(moves) / self._norms(sizes)
        self._before = []
        for name, ratio in zip(self._norms.names, ratios.unbind(), strict=True):
            task.recorder.record(f"update_ratio/{name}", ratio)
