"""How hard the loss pulls at single queries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from components.model import Decoder
from experiments.diagnostic import Look, diagnostics
from experiments.measure import Measure
from experiments.observe import Seen, reading
from experiments.quantiles import gradients, measures, record

if TYPE_CHECKING:
    from experiments.task import LanguageModeling


@diagnostics.register("query_gradient")
class QueryGradient(Look):
    """‖∂(Σ losses)/∂q_t‖₂ of the scaled queries of each layer's heads: root mean square, quantiles 10, 50, 90 %

    With saturated attention the median falls while the root mean square, which few queries make, may rise.
    Source: Vaswani et al. 2017, arXiv:1706.03762, section 3.2.1 (small gradients of a saturated softmax).
    """

    def measures(self, model: Decoder) -> Sequence[Measure]:
        """Four for each layer that attends."""
        return measures("query_gradient", list(reading(model)))

    def on_look(self, task: LanguageModeling, seen: Seen) -> None:
        queries = {place: read.q for place, read in seen.reads.items()}
        record(task, "query_gradient", gradients(seen, queries) if queries else {})
