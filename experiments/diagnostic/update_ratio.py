"""How far a step moves the weights."""

from collections.abc import Sequence

import torch
from torch import Tensor

from analysis.record.measure import Measure
from components.domains import Count
from components.model import Decoder
from experiments.diagnostic import Diagnostic, diagnostics
from experiments.instruments.observed_trial import ObservedTrial
from experiments.instruments.parameter_groups import GroupNorms, parameter_groups


@diagnostics.register("update_ratio")
class UpdateRatio(Diagnostic):
    """‖w′ − w‖₂ / ‖w‖₂ of a step, weight decay included: of all parameters, each layer, each kind of part

    NaN where all weights of a group are 0, as biases may be at first.
    Source: the ratio of Yang et al. 2022, arXiv:2203.03466 (muP), appendix J; of whole groups, not of single matrices.
    """

    def __init__(self, *, every: Count = 50) -> None:
        self.every = every
        self._norms: GroupNorms
        self._before: list[Tensor] = []

    def measures(self, model: Decoder) -> Sequence[Measure]:
        """One ratio for each group of parameters."""
        return [Measure(f"update_ratio/{group}", "1", reduction="median") for group in parameter_groups(model)]

    def on_fit_start(self, trial: ObservedTrial) -> None:
        self._norms = GroupNorms(trial.model, trial.device)

    def on_before_optimizer_step(self, trial: ObservedTrial) -> None:
        if trial.step % self.every == 0:
            self._before = [parameter.detach().clone() for parameter in trial.model.parameters()]

    def on_train_batch_end(self, trial: ObservedTrial) -> None:
        if not self._before:
            return
        with torch.no_grad():
            moved = [now - before for now, before in zip(trial.model.parameters(), self._before, strict=True)]
            moves, sizes = (torch.stack(torch._foreach_norm(each)) for each in (moved, self._before))  # pyright: ignore[reportPrivateImportUsage]
            whole = self._norms(sizes)
            ratios = torch.where(whole > 0, self._norms(moves) / whole, torch.nan)
        self._before = []
        for name, ratio in zip(self._norms.names, ratios.unbind(), strict=True):
            trial.recorder.record(f"update_ratio/{name}", ratio)
