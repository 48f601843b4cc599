"""How a trained model does on sequences of other lengths than those it was trained on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import torch

from components.model import Decoder
from experiments.data import IGNORED, Data
from experiments.diagnostic import Diagnostic, diagnostics
from experiments.measure import Measure

if TYPE_CHECKING:
    from experiments.task import LanguageModeling


@diagnostics.register("extrapolation")
class Extrapolation(Diagnostic):
    """Mean loss of the trained model on the last positions of validation sequences of each of these lengths

    Only the last: an average over all positions would credit a longer sequence with its longer contexts.
    Source: Press et al. 2021, arXiv:2108.12409, section 2.2 and appendix B.
    """

    def __init__(self, *, lengths: tuple[int, ...] = (64, 128, 256), last: int = 16) -> None:
        self.lengths, self.last = lengths, last

    def refuse(self, model: Decoder, at: Callable[[int], Data]) -> None:
        """Raises ValueError for a length that the model or its data cannot have."""
        for length in self.lengths:
            if length < self.last:
                raise ValueError(f"diagnostic.extrapolation: length {length} has no last {self.last} positions")
            if (found := at(length).validation().inputs.shape[1]) != length:
                raise ValueError(
                    f"diagnostic.extrapolation: sequences of these data have {found} tokens whatever the context, "
                    f"none has {length}"
                )
            model(torch.zeros(1, length, dtype=torch.long, device=next(model.parameters()).device))

    def measures(self, model: Decoder) -> Sequence[Measure]:
        """A loss for each length."""
        return [Measure(f"extrapolation/{length}", "nats/token", "lower") for length in self.lengths]

    def on_trained(self, task: LanguageModeling) -> None:
        for length in self.lengths:
            batches = task.held_out(length)
            targets = torch.cat([batch.targets[:, -self.last :] for batch in batches])
            losses = [task.objective(task.model(batch.inputs), batch.targets)[:, -self.last :] for batch in batches]
            mean = torch.cat(losses).double().sum() / (targets != IGNORED).sum()
            task.recorder.record(f"extrapolation/{length}", mean)
