"""Whether more context helps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch

from components.model import Decoder
from experiments.data import IGNORED
from experiments.diagnostic import Diagnostic, diagnostics
from experiments.measure import Measure

if TYPE_CHECKING:
    from experiments.task import LanguageModeling

PARTS = 8


@diagnostics.register("position_loss")
class PositionLoss(Diagnostic):
    """Mean loss of the trained model in each eighth of the context, over the whole validation set

    `late_less_early` is the last eighth's loss less the first's, where both are scored.
    Source: Kaplan et al. 2020, arXiv:2001.08361, fig. 7; Olsson et al. 2022, arXiv:2209.11895 (in-context score).
    """

    def measures(self, model: Decoder) -> Sequence[Measure]:
        """A loss for each eighth, and the difference."""
        eighths = [Measure(f"position_loss/{part}_of_{PARTS}", "nats/token", "lower") for part in range(1, PARTS + 1)]
        return [*eighths, Measure("position_loss/late_less_early", "nats/token", "lower")]

    def on_trained(self, task: LanguageModeling) -> None:
        sums = torch.zeros(2, PARTS, dtype=torch.float64)
        for batch in task.held_out(task.model.sizes.context):
            losses = task.objective(task.model(batch.inputs), batch.targets).cpu().double().sum(0)
            scored = (batch.targets != IGNORED).cpu().double().sum(0)
            part = torch.arange(len(losses)) * PARTS // len(losses)
            sums += torch.zeros(2, PARTS, dtype=torch.float64).index_add_(1, part, torch.stack([losses, scored]))
        means = sums[0] / sums[1]
        for part in (part for part in range(PARTS) if sums[1, part]):
            task.recorder.record(f"position_loss/{part + 1}_of_{PARTS}", means[part])
        if sums[1, 0] and sums[1, -1]:
            task.recorder.record("position_loss/late_less_early", means[-1] - means[0])
