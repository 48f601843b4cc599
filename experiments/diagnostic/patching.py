"""Where in the stream the answer lies."""

from collections.abc import Sequence

import torch
from torch import Tensor

from analysis.record.measure import Measure
from components.model import Decoder
from components.shapes import Logits
from experiments.data import IGNORED, Batch
from experiments.diagnostic import Diagnostic, diagnostics
from experiments.instruments.intervene import patching_stream
from experiments.instruments.observed_trial import ObservedTrial
from experiments.instruments.trace import stream_places, trace_forward

ROUNDING = 16.0  # times ε of the largest logit, that a difference of means of logits can owe to it


@diagnostics.register("patching")
class Patching(Diagnostic):
    """Of pairs of sequences that are scored at the same position with different answers, the share of the difference in
    logits that comes over when the stream at a layer is the other sequence's: at that position, and everywhere else

    (d_patched − d)/(d' − d), d the logit of the other's answer less that of its own; in means over pairs of the first
    batch of the validation set. The answer moves from elsewhere to its position as layers go by. NaN where d' − d is
    within the rounding of the logits.
    Source: Meng et al. 2022, arXiv:2202.05262, section 2; Elhage et al. 2021 (the residual stream as a channel).
    """

    def measures(self, model: Decoder) -> Sequence[Measure]:
        """Two for each place."""
        spots = [f"patching/{where}/{place}" for where in ("answer", "elsewhere") for place in stream_places(model)]
        return [Measure(name, "share") for name in spots]

    def on_trained(self, trial: ObservedTrial) -> None:
        batch = trial.held_out(trial.model.sizes.context)[0]
        rows, donors, position = pairs(batch)
        if not len(rows):
            return
        answer = torch.arange(batch.inputs.shape[1], device=trial.device) == position[:, None]
        own, others = batch.targets[rows, position], batch.targets[donors, position]
        tokens, donor = batch.inputs[rows], trace_forward(trial.model, batch.inputs[donors])

        def difference(logits: Logits) -> Tensor:
            at = logits[torch.arange(len(rows)), position]
            return (at.gather(1, others[:, None]) - at.gather(1, own[:, None])).mean()

        low, high = difference(trial.model.forward(tokens)), difference(donor.logits)
        rounding = ROUNDING * torch.finfo(donor.logits.dtype).eps * donor.logits.abs().max()
        for name, where in {"answer": answer, "elsewhere": ~answer}.items():
            for place, stream in donor.stream.items():
                with patching_stream(trial.model, place, where, stream):
                    share = (difference(trial.model.forward(tokens)) - low) / (high - low)
                share = torch.where((high - low).abs() > rounding, share, torch.nan)
                trial.recorder.record(f"patching/{name}/{place}", share)


def pairs(batch: Batch) -> tuple[Tensor, Tensor, Tensor]:
    """Rows, for each another row whose last scored position is the same and its target another, and that position."""
    scored = batch.targets != IGNORED
    last = (scored * torch.arange(1, scored.shape[1] + 1, device=scored.device)).amax(1) - 1
    target = batch.targets.gather(1, last.clamp_min(0)[:, None]).squeeze(1)
    fits = (last[:, None] == last) & (target[:, None] != target) & (last >= 0)
    rows = fits.any(1).nonzero().squeeze(1)
    return rows, fits[rows].float().argmax(1), last[rows]
