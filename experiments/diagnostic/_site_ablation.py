"""What a trained model loses without one of its heads, sublayers or layers."""

from collections.abc import Sequence

import torch
from torch import Tensor

from analysis.record.measure import VALIDATED, Measure
from components.domains import Count
from components.model import Decoder
from experiments.data import IGNORED, Batch
from experiments.diagnostic import Diagnostic
from experiments.instruments.intervene import Replacement, intervention_sites, replacing_output
from experiments.instruments.observed_trial import ObservedTrial


class Ablation(Diagnostic):
    """The rise of the loss on the first `batches` of the validation set with each site replaced, one at a time."""

    name: str
    replacement: Replacement

    def __init__(self, *, batches: Count = 1) -> None:
        self.batches = batches

    def measures(self, model: Decoder) -> Sequence[Measure]:
        """One for each site."""
        return [Measure(f"{self.name}/{site}", "nats/token", about=VALIDATED) for site in intervention_sites(model)]

    def on_trained(self, trial: ObservedTrial) -> None:
        batches = trial.held_out(trial.model.sizes.context)[: self.batches]
        whole = _mean_loss(trial, batches)
        for site in intervention_sites(trial.model):
            with replacing_output(trial.model, site, type(self).replacement):
                trial.recorder.record(f"{self.name}/{site}", _mean_loss(trial, batches) - whole)


def _mean_loss(trial: ObservedTrial, batches: Sequence[Batch]) -> Tensor:
    """Mean over scored tokens, never of the compiled model, whose hooks would not be called."""
    losses = [trial.objective(trial.model.forward(batch.inputs), batch.targets).sum() for batch in batches]
    scored = [(batch.targets != IGNORED).sum() for batch in batches]
    return torch.stack(losses).sum() / torch.stack(scored).sum()
