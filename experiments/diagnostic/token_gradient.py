"""How hard single tokens' losses pull at the residual stream."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from components.model import Decoder
from experiments.diagnostic import Look, diagnostics
from experiments.measure import Measure
from experiments.observe import Seen, places
from experiments.quantiles import gradients, measures, record

if TYPE_CHECKING:
    from experiments.task import LanguageModeling


@diagnostics.register("token_gradient")
class TokenGradient(Look):
    """‖∂(Σ losses)/∂x_t‖₂ of the stream's tokens before the first layer and after each: root mean square, quantiles

    `first_to_last` is the root mean square before the first layer over that after the last.
    Source: Xiong et al. 2020, arXiv:2002.04745, section 3.3 (gradients over depth).
    """

    def measures(self, model: Decoder) -> Sequence[Measure]:
        """Four for each place, and the ratio."""
        ratio = Measure("token_gradient/first_to_last", "1", reduction="median")
        return [*measures("token_gradient", places(model)), ratio]

    def on_look(self, task: LanguageModeling, seen: Seen) -> None:
        found = gradients(seen, seen.stream)
        record(task, "token_gradient", found)
        first, *_, last = (each["rms"] for each in found.values())
        task.recorder.record("token_gradient/first_to_last", first / last)
