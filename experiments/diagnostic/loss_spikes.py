"""How often the training loss leaps."""

from collections.abc import Sequence

from analysis.record.measure import Measure
from components.model import Decoder
from experiments.diagnostic import Diagnostic, diagnostics
from experiments.instruments.observed_trial import ObservedTrial
from experiments.instruments.spikes import spike_share


@diagnostics.register("loss_spikes")
class LossSpikes(Diagnostic):
    """Share of steps whose training loss is 7 robust standard deviations above the 1,000 before, or a fifth of all

    Source: OLMo 2, arXiv:2501.00656, section 3; robust: the median, and 1.4826 times the median absolute deviation.
    """

    def measures(self, model: Decoder) -> Sequence[Measure]:
        """One share."""
        return [Measure("loss_spikes", "share of steps", "lower")]

    def on_train_end(self, trial: ObservedTrial) -> None:
        trial.recorder.record("loss_spikes", spike_share(trial.recorder.series("train/loss")))
