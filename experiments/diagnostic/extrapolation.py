"""How a trained model does on sequences of other lengths than those it was trained on."""

from collections.abc import Callable, Sequence
from typing import Annotated

import torch
from annotated_types import MinLen

from analysis.record.measure import Measure
from components.domains import Count, Distinct
from components.model import Decoder
from experiments.data import IGNORED, Data
from experiments.diagnostic import Diagnostic, diagnostics
from experiments.instruments.observed_trial import ObservedTrial


@diagnostics.register("extrapolation")
class Extrapolation(Diagnostic):
    """Mean loss of the trained model on the last positions of validation sequences of each of these lengths

    Only the last: an average over all positions would credit a longer sequence with its longer contexts.
    Source: Press et al. 2021, arXiv:2108.12409, section 2.2 and appendix B.
    """

    def __init__(
        self, *, lengths: Annotated[tuple[Count, ...], MinLen(1), Distinct()] = (64, 128, 256), last: Count = 16
    ) -> None:
        self.lengths, self.last = lengths, last

    def refuse_model(self, model: Decoder, at: Callable[[int], Data]) -> None:
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
        """A loss for each length, whatever the context that the model was trained at."""
        about = ("vocabulary", "data", "objective")
        return [Measure(f"extrapolation/{length}", "nats/token", "lower", about=about) for length in self.lengths]

    def on_trained(self, trial: ObservedTrial) -> None:
        for length in self.lengths:
            batches = trial.held_out(length)
            targets = torch.cat([batch.targets[:, -self.last :] for batch in batches])
            losses = [trial.objective(trial.model(batch.inputs), batch.targets)[:, -self.last :] for batch in batches]
            mean = torch.cat(losses).double().sum() / (targets != IGNORED).sum()
            trial.recorder.record(f"extrapolation/{length}", mean)
