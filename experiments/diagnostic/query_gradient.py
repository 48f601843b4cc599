"""How hard the loss pulls at single queries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from analysis.record.measure import Measure
from components.model import Decoder
from experiments.diagnostic import ModelDiagnostic, diagnostics
from experiments.instruments.token_norms import record_token_norms, token_gradient_norms, token_norm_measures
from experiments.instruments.trace import ForwardTrace, attention_cores

if TYPE_CHECKING:
    from experiments.trial.language_modeling import LanguageModeling


@diagnostics.register("query_gradient")
class QueryGradient(ModelDiagnostic):
    """‖∂(Σ losses)/∂q_t‖₂ of the scaled queries of each layer's heads: root mean square, quantiles 10, 50, 90 %

    With saturated attention the median falls while the root mean square, which few queries make, may rise.
    Source: Vaswani et al. 2017, arXiv:1706.03762, section 3.2.1 (small gradients of a saturated softmax).
    """

    def measures(self, model: Decoder) -> Sequence[Measure]:
        """Four for each layer that attends."""
        return token_norm_measures("query_gradient", list(attention_cores(model)))

    def on_inspect(self, task: LanguageModeling, seen: ForwardTrace) -> None:
        queries = {place: read.q for place, read in seen.attention.items()}
        record_token_norms(task, "query_gradient", token_gradient_norms(seen, queries) if queries else {})
