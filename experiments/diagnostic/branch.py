"""How much of the stream a branch has written."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch

from components.model import Decoder
from experiments.diagnostic import Look, diagnostics
from experiments.measure import Measure
from experiments.observe import Seen, joining

if TYPE_CHECKING:
    from experiments.task import LanguageModeling


@diagnostics.register("branch")
class Branch(Look):
    """Dependency of a sublayer on its branch: Var f / Var (x + f), f what the branch adds to the stream x

    With another residual than x + f, f is what the branch changes in it: residual(x, f) − residual(x, 0).
    Source: Liu et al. 2020 (Admin), arXiv:2004.08249, section 4.1.
    """

    def measures(self, model: Decoder) -> Sequence[Measure]:
        """For each sublayer."""
        return [Measure(f"branch/{place}", "1") for place in joining(model)]

    def on_look(self, task: LanguageModeling, seen: Seen) -> None:
        for place, joined in seen.joins.items():
            without = joined.residual(joined.x, torch.zeros_like(joined.update))
            task.recorder.record(f"branch/{place}", (joined.y - without).float().var() / joined.y.float().var())
