"""Whether the logits drift."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from components.model import Decoder
from experiments.diagnostic import Look, diagnostics
from experiments.measure import Measure
from experiments.observe import Seen

if TYPE_CHECKING:
    from experiments.task import LanguageModeling


@diagnostics.register("log_z")
class LogZ(Look):
    """ln Z = ln Σ exp(logits) of every position: its mean, and the mean of its square, which the z-loss penalises

    Source: Chowdhery et al. 2022 (PaLM), arXiv:2204.02311, section 5; Wortsman et al. 2023, arXiv:2309.14322.
    """

    def measures(self, model: Decoder) -> Sequence[Measure]:
        """Both means."""
        return [Measure("log_z/mean", "nats"), Measure("log_z/square", "nats²")]

    def on_look(self, task: LanguageModeling, seen: Seen) -> None:
        log_z = seen.logits.float().logsumexp(-1)
        task.recorder.record("log_z/mean", log_z.mean())
        task.recorder.record("log_z/square", log_z.square().mean())
