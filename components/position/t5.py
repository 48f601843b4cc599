"""A learned bias for each head and each bucket of distances."""

import math

import torch

from components.linear import Embedding
from components.parts import Sizes
from components.position import Position, positions
from components.shapes import Bias


@positions.register("t5")
class T5(Position):
    """bias_(h,t,s) = B_(bucket(t − s), h): one bucket a distance up to half of them, then logarithmic up to `far`

    As in T5's decoder, keys after the query share the bucket of distance 0; with `both_sides`, as in its encoder, they
    have the second half of the buckets for themselves.
    Raises ValueError for fewer than 2 buckets, or 4 for both sides.
    Source: Raffel et al. 2019, arXiv:1910.10683, section 2.1; the buckets are the released code's.
    """

    def __init__(self, sizes: Sizes, *, buckets: int = 32, far: int = 128, both_sides: bool = False) -> None:
        super().__init__(sizes)
        if buckets < (least := 4 if both_sides else 2):
            raise ValueError(f"position.buckets={buckets}: must be at least {least}")
        self.both_sides, self.far = both_sides, far
        self.buckets = buckets // 2 if both_sides else buckets  # of one side
        self.table = Embedding(buckets, sizes.heads)

    def bias(self, length: int, device: torch.device) -> Bias:
        """B_(bucket(t − s), h)"""
        places = torch.arange(length, device=device)
        back = places[:, None] - places
        buckets = self._bucket(back.abs() if self.both_sides else back.clamp_min(0))
        if self.both_sides:
            buckets = buckets + self.buckets * (back < 0)
        return self.table(buckets).permute(2, 0, 1)[None]

    def _bucket(self, distances: torch.Tensor) -> torch.Tensor:
        exact = self.buckets // 2
        share = (distances.clamp_min(1) / exact).log() / math.log(max(self.far, exact + 1) / exact)
        coarse = exact + (share * (self.buckets - exact)).long().clamp_max(self.buckets - exact - 1)
        return torch.where(distances < exact, distances, coarse)
