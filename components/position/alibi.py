"""Nearer keys count more, by a slope of each head's own."""

import torch

from components.domains import Positive
from components.parts import Sizes
from components.position import Position, positions
from components.shapes import Bias


@positions.register("alibi")
class ALiBi(Position):
    """bias_(h,t,s) = −m_h · |t − s|, m_h = 2^(−steepest · (h + 1) / H)

    Source: Press et al. 2021, arXiv:2108.12409, section 3; the steepest slope is 2^(−8/H).
    """

    def __init__(self, sizes: Sizes, *, steepest: Positive = 8.0) -> None:
        super().__init__(sizes)
        self.steepest = steepest

    def bias(self, length: int, device: torch.device) -> Bias:
        """−m_h · |t − s|"""
        places = torch.arange(length, device=device)
        heads = torch.arange(1, self.sizes.heads + 1, device=device)
        slopes = 2.0 ** (-self.steepest * heads / self.sizes.heads)
        return -slopes[None, :, None, None] * (places[:, None] - places).abs()
