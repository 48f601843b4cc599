"""Gradients of single tokens, where the norm of all of them would tell of a few."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from experiments.measure import Measure
from experiments.observe import Seen

if TYPE_CHECKING:
    from experiments.task import LanguageModeling

NAMES = ("rms", "p10", "median", "p90")


def measures(diagnostic: str, places: Sequence[str]) -> list[Measure]:
    """Four numbers for each place."""
    named = [f"{diagnostic}/{name}/{place}" for name in NAMES for place in places]
    return [Measure(name, "nats", reduction="median") for name in named]


@torch.enable_grad()
def gradients(seen: Seen, places: Mapping[str, Tensor]) -> dict[str, dict[str, Tensor]]:
    """For each place, of the norms over the last axis of ∂(Σ losses)/∂x: root mean square, 10 %, 50 %, 90 % quantiles.

    The losses are summed, not averaged, so that the size of a batch does not matter.
    """
    found = torch.autograd.grad(
        seen.losses.sum(), list(places.values()), retain_graph=True, allow_unused=True, materialize_grads=True
    )
    return {place: _statistics(gradient.float().norm(dim=-1)) for place, gradient in zip(places, found, strict=True)}


def record(task: LanguageModeling, diagnostic: str, found: Mapping[str, Mapping[str, Tensor]]) -> None:
    """Each place's numbers under the diagnostic's name."""
    for place, each in found.items():
        for name, value in each.items():
            task.recorder.record(f"{diagnostic}/{name}/{place}", value)


def _statistics(norms: Tensor) -> dict[str, Tensor]:
    quantiles = norms.flatten().quantile(torch.tensor([0.1, 0.5, 0.9], device=norms.device, dtype=norms.dtype))
    return dict(zip(NAMES, (norms.square().mean().sqrt(), *quantiles), strict=True))
