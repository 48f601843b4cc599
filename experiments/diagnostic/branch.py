"""How much of the stream a branch has written."""

from collections.abc import Sequence

import torch

from analysis.record.measure import Measure
from components.model import Decoder
from experiments.diagnostic import ModelDiagnostic, diagnostics
from experiments.instruments.observed_trial import ObservedTrial
from experiments.instruments.trace import ForwardTrace, residual_modules


@diagnostics.register("branch")
class Branch(ModelDiagnostic):
    """Dependency of a sublayer on its branch: Var f / Var (x + f), f what the branch adds to the stream x

    With another residual than x + f, f is what the branch changes in it: residual(x, f) − residual(x, 0). NaN where the
    change is not 0 and within the rounding of x, a share of ε² of the variance.
    Source: Liu et al. 2020 (Admin), arXiv:2004.08249, section 4.1.
    """

    def measures(self, model: Decoder) -> Sequence[Measure]:
        """For each sublayer."""
        return [Measure(f"branch/{place}", "1") for place in residual_modules(model)]

    def on_inspect(self, trial: ObservedTrial, seen: ForwardTrace) -> None:
        for place, joined in seen.residuals.items():
            without = joined.residual(joined.x, torch.zeros_like(joined.update))
            share = (joined.y - without).float().var() / joined.y.float().var()
            told = (share == 0) | (share > torch.finfo(joined.y.dtype).eps ** 2)
            trial.recorder.record(f"branch/{place}", torch.where(told, share, torch.nan))
