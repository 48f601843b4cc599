"""A learned bias for each head and each bucket of distances."""

import math

import torch

from components.domains import Count, Several
from components.linear import Embedding
from components.parts import Sizes
from components.position import Position, positions
from components.shapes import Bias


@positions.register("t5")
class T5(Position):
    """bias_(h,t,s) = B_(bucket(t − s), h): one bucket a distance up to half of them, then logarithmic up to `far`

    Source: Raffel et al. 2019, arXiv:1910.10683, section 2.1; the buckets are the released code's, one-sided.
    """

    def __init__(self, sizes: Sizes, *, buckets: Several = 32, far: Count = 128) -> None:
        super().__init__(sizes)
        self.buckets, self.far = buckets, far
        self.table = Embedding(buckets, sizes.heads)

    def bias(self, length: int, device: torch.device) -> Bias:
        """B_(bucket(t − s), h); keys after the query share the bucket of distance 0"""
        places = torch.arange(length, device=device)
        distances = (places[:, None] - places).clamp_min(0)
        return self.table(self._bucket(distances)).permute(2, 0, 1)[None]

    def _bucket(self, distances: torch.Tensor) -> torch.Tensor:
        exact = self.buckets // 2
        share = (distances.clamp_min(1) / exact).log() / math.log(max(self.far, exact + 1) / exact)
        coarse = exact + (share * (self.buckets - exact)).long().clamp_max(self.buckets - exact - 1)
        return torch.where(distances < exact, distances, coarse)
