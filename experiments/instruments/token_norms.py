"""Gradients of single tokens, where the norm of all of them would tell of a few."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from analysis.record.measure import VALIDATED, Measure
from experiments.instruments.observed_trial import ObservedTrial
from experiments.instruments.trace import ForwardTrace

STATISTICS = ("rms", "p10", "median", "p90")


def token_norm_measures(diagnostic: str, places: Sequence[str]) -> list[Measure]:
    """Four numbers for each place."""
    named = [f"{diagnostic}/{name}/{place}" for name in STATISTICS for place in places]
    return [Measure(name, "nats", reduction="median", about=VALIDATED) for name in named]


@torch.enable_grad()
def token_gradient_norms(seen: ForwardTrace, places: Mapping[str, Tensor]) -> dict[str, dict[str, Tensor]]:
    """For each place, of the norms over the last axis of ∂(Σ losses)/∂x: root mean square, 10 %, 50 %, 90 % quantiles.

    The losses are summed, not averaged, so that the size of a batch does not matter.
    """
    found = torch.autograd.grad(
        seen.losses.sum(), list(places.values()), retain_graph=True, allow_unused=True, materialize_grads=True
    )
    return {place: _statistics(gradient.float().norm(dim=-1)) for place, gradient in zip(places, found, strict=True)}


def record_token_norms(trial: ObservedTrial, diagnostic: str, found: Mapping[str, Mapping[str, Tensor]]) -> None:
    """Each place's numbers under the diagnostic's name."""
    for place, each in found.items():
        for name, value in each.items():
            trial.recorder.record(f"{diagnostic}/{name}/{place}", value)


def _statistics(norms: Tensor) -> dict[str, Tensor]:
    quantiles = norms.flatten().quantile(torch.tensor([0.1, 0.5, 0.9], device=norms.device, dtype=norms.dtype))
    return dict(zip(STATISTICS, (norms.square().mean().sqrt(), *quantiles), strict=True))
