"""How hard the loss pulls at single queries."""

from collections.abc import Sequence

from analysis.record.measure import Measure
from components.model import Decoder
from experiments.diagnostic import ModelDiagnostic, diagnostics
from experiments.instruments.observed_trial import ObservedTrial
from experiments.instruments.token_norms import record_token_norms, token_gradient_norms, token_norm_measures
from experiments.instruments.trace import ForwardTrace, attention_cores


@diagnostics.register("query_gradient")
class QueryGradient(ModelDiagnostic):
    """‖∂(Σ losses)/∂q_t‖₂ of the scaled queries of each layer's heads: root mean square, quantiles 10, 50, 90 %

    With saturated attention the median falls while the root mean square, which few queries make, may rise.
    Source: Vaswani et al. 2017, arXiv:1706.03762, section 3.2.1 (small gradients of a saturated softmax).
    """

    def measures(self, model: Decoder) -> Sequence[Measure]:
        """Four for each layer that attends."""
        return token_norm_measures("query_gradient", list(attention_cores(model)))

    def on_inspect(self, trial: ObservedTrial, seen: ForwardTrace) -> None:
        queries = {place: read.q for place, read in seen.attention.items()}
        record_token_norms(trial, "query_gradient", token_gradient_norms(seen, queries) if queries else {})
