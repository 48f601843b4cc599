"""Whether the logits drift."""

from collections.abc import Sequence

from analysis.record.measure import VALIDATED, Measure
from components.model import Decoder
from experiments.diagnostic import ModelDiagnostic, diagnostics
from experiments.instruments.observed_trial import ObservedTrial
from experiments.instruments.trace import ForwardTrace


@diagnostics.register("log_z")
class LogZ(ModelDiagnostic):
    """ln Z = ln Σ exp(logits) of every position: its mean, and the mean of its square, which the z-loss penalises

    Source: Chowdhery et al. 2022 (PaLM), arXiv:2204.02311, section 5; Wortsman et al. 2023, arXiv:2309.14322.
    """

    def measures(self, model: Decoder) -> Sequence[Measure]:
        """Both means."""
        return [Measure("log_z/mean", "nats", about=VALIDATED), Measure("log_z/square", "nats²", about=VALIDATED)]

    def on_inspect(self, trial: ObservedTrial, seen: ForwardTrace) -> None:
        log_z = seen.logits.float().logsumexp(-1)
        trial.recorder.record("log_z/mean", log_z.mean())
        trial.recorder.record("log_z/square", log_z.square().mean())
