"""The residual stream: how large it is, how uneven, how alike its tokens become."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor
from torch.nn.functional import normalize

from components.model import Decoder
from components.shapes import Hidden
from experiments.diagnostic import Look, diagnostics
from experiments.measure import Measure
from experiments.observe import Seen, places

if TYPE_CHECKING:
    from experiments.task import LanguageModeling

NAMES = ("rms", "kurtosis", "outlier", "rank", "cosine")
FAR, LAYERS, TOKENS = 6.0, 0.25, 0.06  # what makes a feature an outlier


@diagnostics.register("stream")
class Stream(Look):
    """The stream before the first layer and after each: root mean square; kurtosis mean x⁴ / (mean x²)² of a token's
    features (3 if normal); outlier, the largest |x| over the root mean square; rank ‖X − 1x̄ᵀ‖_F / ‖X‖_F, 0 where all
    tokens are one; cosine, the mean over pairs of tokens

    Means over sequences. `outlier_features` counts features beyond 6 root mean squares in at least a quarter of the
    layers and 6 % of the tokens.
    Source: rank, Dong et al. 2021, arXiv:2103.03404; cosine, Noci et al. 2022, arXiv:2206.03126; outliers, Dettmers et
    al. 2022, arXiv:2208.07339, section 4; kurtosis, Bondarenko et al. 2023, arXiv:2306.12929.
    """

    def measures(self, model: Decoder) -> Sequence[Measure]:
        """For each place."""
        found = [Measure(f"stream/{name}/{place}", "1") for name in NAMES for place in places(model)]
        return [*found, Measure("stream/outlier_features", "features")]

    def on_look(self, task: LanguageModeling, seen: Seen) -> None:
        for place, x in seen.stream.items():
            for name, value in statistics(x.detach()).items():
                task.recorder.record(f"stream/{name}/{place}", value)
        task.recorder.record("stream/outlier_features", outlier_features(list(seen.stream.values())))


def statistics(x: Hidden) -> dict[str, Tensor]:
    """One place's numbers, in at least float32."""
    x = x.to(torch.promote_types(x.dtype, torch.float32))
    squares, size = x.square(), x.norm(dim=(1, 2))
    tokens = x.shape[1]
    total = normalize(x, dim=-1).sum(1).square().sum(-1)  # of all pairs' cosines, each token with itself too
    return {
        "rms": squares.mean().sqrt(),
        "kurtosis": (x.pow(4).mean(-1) / squares.mean(-1).square()).mean(),
        "outlier": x.abs().max() / squares.mean().sqrt(),
        "rank": ((x - x.mean(1, keepdim=True)).norm(dim=(1, 2)) / size).mean(),
        "cosine": ((total - tokens) / (tokens * (tokens - 1))).mean(),
    }


def outlier_features(stream: Sequence[Hidden]) -> Tensor:
    """How many features are far out in enough layers and tokens, layers' outputs only."""
    far = torch.stack([(x.abs() > FAR * x.square().mean().sqrt()).flatten(0, 1).float().mean(0) for x in stream[1:]])
    return ((far >= TOKENS).float().mean(0) >= LAYERS).sum().float()
