"""One linear map for queries and keys."""

from torch import nn

from components.linear import Linear, Selector
from components.parts import Sizes
from components.projection import projections, refuse_groups, split
from components.shapes import Heads, Hidden


@projections.register("shared_qk")
class SharedQK(nn.Module):
    """q = k = W_q x,  v = W_v x

    Source: Kitaev et al. 2020 (Reformer), arXiv:2001.04451, section 2 (shared-QK).
    """

    def __init__(self, sizes: Sizes, query_gain: float, *, bias: bool = False) -> None:
        super().__init__()
        refuse_groups(sizes, "shared_qk")
        self.heads, inner = sizes.heads, sizes.heads * sizes.head_width
        self.query = Selector(sizes.width, inner, bias=bias, gain=query_gain)
        self.value = Linear(sizes.width, inner, bias=bias)

    def forward(self, x: Hidden) -> tuple[Heads, Heads, Heads]:
        shared = split(self.query(x), self.heads)
        return shared, shared, split(self.value(x), self.heads)
