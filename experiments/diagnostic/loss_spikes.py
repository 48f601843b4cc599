"""How often the training loss leaps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from components.model import Decoder
from experiments.diagnostic import Diagnostic, diagnostics
from experiments.measure import Measure
from experiments.spikes import spikes

if TYPE_CHECKING:
    from experiments.task import LanguageModeling


@diagnostics.register("loss_spikes")
class LossSpikes(Diagnostic):
    """Share of steps whose training loss is 7 robust standard deviations above the 1,000 before, or a fifth of all

    Source: OLMo 2, arXiv:2501.00656, section 3; robust: the median, and 1.4826 times the median absolute deviation.
    """

    def measures(self, model: Decoder) -> Sequence[Measure]:
        """One share."""
        return [Measure("loss_spikes", "share of steps", "lower")]

    def on_train_end(self, task: LanguageModeling) -> None:
        task.recorder.record("loss_spikes", spikes(task.recorder.series("train/loss")))
