"""How much of the past reaches the present."""

import copy
from collections.abc import Sequence

import torch
from torch import Tensor

from analysis.record.measure import Measure
from components.domains import Count, Index
from components.initialise import key
from components.model import Decoder
from experiments.diagnostic import ModelDiagnostic, diagnostics
from experiments.instruments.observed_trial import ObservedTrial
from experiments.instruments.trace import START, ForwardTrace, stream_places, trace_forward

SEQUENCES = 2


@diagnostics.register("gradient_through_time")
class GradientThroughTime(ModelDiagnostic):
    """G(k) = ‖∂x'_T/∂x_(T−k)‖_F, x the stream before the first layer and x' after the last, in float64

    At k = 0, 1, 2, 4, …; `farthest` is G(T − 1)/G(0); ln G is fitted over k > 0 by −k/`tokens` (exponential) and by
    −`exponent` · ln k (power); `exponential_by` is how much lower Akaike's criterion is for the first. What lies below
    16 · T · ε · max G, ε float64's, may be rounding: it is not recorded and in no fit; `reach` is the last k before it.
    Source: Bengio et al. 1994; Pascanu et al. 2013, arXiv:1211.5063, section 2; Frobenius norm by random projections.
    """

    def __init__(self, *, every: Index = 0, projections: Count = 4) -> None:
        super().__init__(every=every)
        self.projections = projections

    def measures(self, model: Decoder) -> Sequence[Measure]:
        """The curve at doubling distances, its ends' ratio, and what the fits say."""
        curve = [Measure(f"gradient_through_time/{k}", "1") for k in distances(model.sizes.context)]
        return [*curve, *(Measure(f"gradient_through_time/{name}", unit) for name, unit in UNITS.items())]

    def on_inspect(self, trial: ObservedTrial, seen: ForwardTrace) -> None:
        exact = copy.deepcopy(trial.model).cpu().double()
        gradient = through_time(exact, seen.tokens[:SEQUENCES].cpu(), self.projections)
        kept = above_floor(gradient)
        for k in (k for k in distances(len(gradient)) if kept[k]):
            trial.recorder.record(f"gradient_through_time/{k}", gradient[k])
        for name, value in fits(gradient).items():
            if value.isfinite():
                trial.recorder.record(f"gradient_through_time/{name}", value)


UNITS = {"farthest": "1", "tokens": "tokens", "exponent": "1", "exponential_by": "AIC", "reach": "tokens"}
FLOOR = 16.0  # rounding errors of float64 for each token, of the largest gradient, below which nothing is told apart
FEWEST = 3  # distances that two laws of one slope each can be fitted to


def distances(length: int) -> list[int]:
    """0, 1, 2, 4, … below `length`."""
    return [0, *(2**n for n in range(length.bit_length()) if 2**n < length)]


@torch.enable_grad()
def through_time(model: Decoder, tokens: Tensor, projections: int) -> Tensor:
    """G(k) at k = 0 … T − 1, root mean square over sequences and random projections of x'_T."""
    seen = trace_forward(model, tokens)
    start, end = seen.stream[START], seen.stream[stream_places(model)[-1]]
    generator = torch.Generator().manual_seed(key("gradient_through_time"))
    total = torch.zeros(start.shape[1], dtype=start.dtype)
    for _ in range(projections):
        direction = torch.randn(end.shape[0], end.shape[2], generator=generator, dtype=end.dtype)
        (gradient,) = torch.autograd.grad((end[:, -1] * direction).sum(), start, retain_graph=True)
        total += gradient.square().sum(-1).mean(0)
    return (total / projections).sqrt().flip(0)


def above_floor(gradient: Tensor) -> Tensor:
    """True up to the first distance at which G is not above 16 · T · ε · max G: from there on it may be rounding."""
    floor = FLOOR * len(gradient) * torch.finfo(gradient.dtype).eps * gradient.max()
    return (gradient > floor).cumprod(0).bool()


def fits(gradient: Tensor) -> dict[str, Tensor]:
    """The ratio of the ends, the last distance above the floor, and the two laws fitted to those above; NaN for what
    the floor hides, and for laws of fewer than 3 distances.
    """
    kept = above_floor(gradient)
    nan = torch.full((), torch.nan, dtype=gradient.dtype)
    ends = {
        "farthest": torch.where(kept[-1], gradient[-1] / gradient[0], nan),
        "reach": (kept.sum() - 1).clamp_min(0).to(gradient.dtype),
    }
    k = torch.arange(len(gradient), dtype=gradient.dtype)[1:][kept[1:]]
    if len(k) < FEWEST:
        return ends | dict.fromkeys(("tokens", "exponent", "exponential_by"), nan)
    logs, least = gradient[1:][kept[1:]].log(), torch.finfo(gradient.dtype).eps ** 2
    slopes, errors = zip(*(_line(x, logs) for x in (k, k.log())), strict=True)
    criterion = len(k) * (errors[1].clamp_min(least).log() - errors[0].clamp_min(least).log())
    return ends | {
        "tokens": -1 / slopes[0],
        "exponent": -slopes[1],
        "exponential_by": criterion,
    }


def _line(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Slope of least squares, and the mean square of what it leaves."""
    slope = (x - x.mean()) @ (y - y.mean()) / (x - x.mean()).square().sum()
    return slope, (y - y.mean() - slope * (x - x.mean())).square().mean()
