"""How hard single tokens' losses pull at the residual stream."""

from collections.abc import Sequence

import torch

from analysis.record.measure import Measure
from components.model import Decoder
from experiments.diagnostic import ModelDiagnostic, diagnostics
from experiments.instruments.observed_trial import ObservedTrial
from experiments.instruments.token_norms import record_token_norms, token_gradient_norms, token_norm_measures
from experiments.instruments.trace import ForwardTrace, stream_places


@diagnostics.register("token_gradient")
class TokenGradient(ModelDiagnostic):
    """‖∂(Σ losses)/∂x_t‖₂ of the stream's tokens before the first layer and after each: root mean square, quantiles

    `first_to_last` is the root mean square before the first layer over that after the last.
    Source: Xiong et al. 2020, arXiv:2002.04745, section 3.3 (gradients over depth).
    """

    def measures(self, model: Decoder) -> Sequence[Measure]:
        """Four for each place, and the ratio."""
        ratio = Measure("token_gradient/first_to_last", "1", reduction="median")
        return [*token_norm_measures("token_gradient", stream_places(model)), ratio]

    def on_inspect(self, trial: ObservedTrial, seen: ForwardTrace) -> None:
        found = token_gradient_norms(seen, seen.stream)
        record_token_norms(trial, "token_gradient", found)
        first, *_, last = (each["rms"] for each in found.values())
        ratio = torch.where(last > torch.finfo(last.dtype).tiny, first / last, torch.nan)
        trial.recorder.record("token_gradient/first_to_last", ratio)
