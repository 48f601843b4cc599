"""Each key carries some of the key before it."""

import torch
from torch import nn

from components.linear import Linear, Selector
from components.parts import Sizes
from components.projection import projections, refuse_groups, split
from components.shapes import Heads, Hidden


@projections.register("smeared")
class Smeared(nn.Module):
    """k_t ← σ(a_h) k_t + (1 − σ(a_h)) k_(t−1), a_h learned for each head and `mix` at first; otherwise as `separate`

    Source: Olsson et al. 2022, arXiv:2209.11895, argument 2 (smeared keys).
    """

    def __init__(self, sizes: Sizes, query_gain: float, *, mix: float = 0.0, bias: bool = False) -> None:
        super().__init__()
        refuse_groups(sizes, "smeared")
        self.heads, inner = sizes.heads, sizes.heads * sizes.head_width
        self.query = Selector(sizes.width, inner, bias=bias, gain=query_gain)
        self.key = Selector(sizes.width, inner, bias=bias)
        self.value = Linear(sizes.width, inner, bias=bias)
        self.mix = nn.Parameter(torch.full((sizes.heads, 1, 1), mix))

    def forward(self, x: Hidden) -> tuple[Heads, Heads, Heads]:
        q, k, v = (split(role(x), self.heads) for role in (self.query, self.key, self.value))
        before = torch.cat([k[..., :1, :], k[..., :-1, :]], dim=-2)
        own = self.mix.sigmoid()
        return q, own * k + (1 - own) * before, v
