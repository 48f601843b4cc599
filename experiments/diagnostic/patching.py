"""Where in the stream the answer lies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from components.model import Decoder
from components.shapes import Logits
from experiments.data import IGNORED, Batch
from experiments.diagnostic import Diagnostic, diagnostics
from experiments.intervene import patched
from experiments.measure import Measure
from experiments.observe import observed, places

if TYPE_CHECKING:
    from experiments.task import LanguageModeling


@diagnostics.register("patching")
class Patching(Diagnostic):
    """Of pairs of sequences that are scored at the same position with different answers, the share of the difference in
    logits that comes over when the stream at a layer is the other sequence's: at that position, and everywhere else

    (d_patched − d)/(d' − d), d the logit of the other's answer less that of its own; in means over pairs of the first
    batch of the validation set. The answer moves from elsewhere to its position as layers go by.
    Source: Meng et al. 2022, arXiv:2202.05262, section 2; Elhage et al. 2021 (the residual stream as a channel).
    """

    def measures(self, model: Decoder) -> Sequence[Measure]:
        """Two for each place."""
        spots = [f"patching/{where}/{place}" for where in ("answer", "elsewhere") for place in places(model)]
        return [Measure(name, "share") for name in spots]

    def on_trained(self, task: LanguageModeling) -> None:
        batch = task.held_out(task.model.sizes.context)[0]
        rows, donors, position = pairs(batch)
        if not len(rows):
            return
        answer = torch.arange(batch.inputs.shape[1], device=task.device) == position[:, None]
        own, others = batch.targets[rows, position], batch.targets[donors, position]
        tokens, donor = batch.inputs[rows], observed(task.model, batch.inputs[donors])

        def difference(logits: Logits) -> Tensor:
            at = logits[torch.arange(len(rows)), position]
            return (at.gather(1, others[:, None]) - at.gather(1, own[:, None])).mean()

        low, high = difference(task.model.forward(tokens)), difference(donor.logits)
        for name, where in {"answer": answer, "elsewhere": ~answer}.items():
            for place, stream in donor.stream.items():
                with patched(task.model, place, where, stream):
                    share = (difference(task.model.forward(tokens)) - low) / (high - low)
                task.recorder.record(f"patching/{name}/{place}", share)


def pairs(batch: Batch) -> tuple[Tensor, Tensor, Tensor]:
    """Rows, for each another row whose last scored position is the same and its target another, and that position."""
    scored = batch.targets != IGNORED
    last = (scored * torch.arange(1, scored.shape[1] + 1, device=scored.device)).amax(1) - 1
    target = batch.targets.gather(1, last.clamp_min(0)[:, None]).squeeze(1)
    fits = (last[:, None] == last) & (target[:, None] != target) & (last >= 0)
    rows = fits.any(1).nonzero().squeeze(1)
    return rows, fits[rows].float().argmax(1), last[rows]
