"""What a trained model loses without one of its heads, sublayers or layers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from components.model import Decoder
from experiments.data import IGNORED, Batch
from experiments.diagnostic import Diagnostic
from experiments.intervene import Replacement, replaced, sites
from experiments.measure import Measure

if TYPE_CHECKING:
    from experiments.task import LanguageModeling


class Ablation(Diagnostic):
    """The rise of the loss on the first `batches` of the validation set with each site replaced, one at a time."""

    name: str
    replacement: Replacement

    def __init__(self, *, batches: int = 1) -> None:
        self.batches = batches

    def measures(self, model: Decoder) -> Sequence[Measure]:
        """One for each site."""
        return [Measure(f"{self.name}/{site}", "nats/token") for site in sites(model)]

    def on_trained(self, task: LanguageModeling) -> None:
        batches = task.held_out(task.model.sizes.context)[: self.batches]
        whole = _loss(task, batches)
        for site in sites(task.model):
            with replaced(task.model, site, type(self).replacement):
                task.recorder.record(f"{self.name}/{site}", _loss(task, batches) - whole)


def _loss(task: LanguageModeling, batches: Sequence[Batch]) -> Tensor:
    """Mean over scored tokens, never of the compiled model, whose hooks would not be called."""
    losses = [task.objective(task.model.forward(batch.inputs), batch.targets).sum() for batch in batches]
    scored = [(batch.targets != IGNORED).sum() for batch in batches]
    return torch.stack(losses).sum() / torch.stack(scored).sum()
