"""How much of the past reaches the present."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from components.initialise import key
from components.model import Decoder
from experiments.diagnostic import Look, diagnostics
from experiments.measure import Measure
from experiments.observe import START, Seen, observed, places

if TYPE_CHECKING:
    from experiments.task import LanguageModeling

SEQUENCES = 2


@diagnostics.register("gradient_through_time")
class GradientThroughTime(Look):
    """G(k) = ‖∂x'_T/∂x_(T−k)‖_F, x the stream before the first layer and x' after the last, in float64

    At k = 0, 1, 2, 4, …; `farthest` is G(T − 1)/G(0); ln G is fitted over all k > 0 by −k/`tokens` (exponential) and by
    −`exponent` · ln k (power); `exponential_by` is how much lower Akaike's criterion is for the first.
    Source: Bengio et al. 1994; Pascanu et al. 2013, arXiv:1211.5063, section 2; Frobenius norm by random projections.
    """

    def __init__(self, *, every: int = 0, projections: int = 4) -> None:
        super().__init__(every=every)
        self.projections = projections

    def measures(self, model: Decoder) -> Sequence[Measure]:
        """The curve at doubling distances, its ends' ratio, and what the fits say."""
        curve = [Measure(f"gradient_through_time/{k}", "1") for k in distances(model.sizes.context)]
        return [*curve, *(Measure(f"gradient_through_time/{name}", unit) for name, unit in UNITS.items())]

    def on_look(self, task: LanguageModeling, seen: Seen) -> None:
        exact = copy.deepcopy(task.model).cpu().double()
        gradient = through_time(exact, seen.tokens[:SEQUENCES].cpu(), self.projections)
        for k in distances(len(gradient)):
            task.recorder.record(f"gradient_through_time/{k}", gradient[k])
        for name, value in fits(gradient).items():
            task.recorder.record(f"gradient_through_time/{name}", value)


UNITS = {"farthest": "1", "tokens": "tokens", "exponent": "1", "exponential_by": "AIC"}


def distances(length: int) -> list[int]:
    """0, 1, 2, 4, … below `length`."""
    return [0, *(2**n for n in range(length.bit_length()) if 2**n < length)]


@torch.enable_grad()
def through_time(model: Decoder, tokens: Tensor, projections: int) -> Tensor:
    """G(k) at k = 0 … T − 1, root mean square over sequences and random projections of x'_T."""
    seen = observed(model, tokens)
    start, end = seen.stream[START], seen.stream[places(model)[-1]]
    generator = torch.Generator().manual_seed(key("gradient_through_time"))
    total = torch.zeros(start.shape[1], dtype=start.dtype)
    for _ in range(projections):
        direction = torch.randn(end.shape[0], end.shape[2], generator=generator, dtype=end.dtype)
        (gradient,) = torch.autograd.grad((end[:, -1] * direction).sum(), start, retain_graph=True)
        total += gradient.square().sum(-1).mean(0)
    return (total / projections).sqrt().flip(0)


def fits(gradient: Tensor) -> dict[str, Tensor]:
    """The ratio of the ends, and the two laws; distances at which nothing is left count in no fit."""
    k = torch.arange(len(gradient), dtype=gradient.dtype)[1:]
    kept = gradient[1:] > 0
    slopes, errors = zip(*(_line(x[kept], gradient[1:][kept].log()) for x in (k, k.log())), strict=True)
    criterion = kept.sum() * (errors[1].log() - errors[0].log())
    return {
        "farthest": gradient[-1] / gradient[0],
        "tokens": -1 / slopes[0],
        "exponent": -slopes[1],
        "exponential_by": criterion,
    }


def _line(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Slope of least squares, and the mean square of what it leaves."""
    slope = (x - x.mean()) @ (y - y.mean()) / (x - x.mean()).square().sum()
    return slope, (y - y.mean() - slope * (x - x.mean())).square().mean()
