"""One linear map for all three roles."""

from torch import nn

from components.linear import Linear
from components.parts import Sizes
from components.projection import projections, refuse_groups, split
from components.shapes import Heads, Hidden


@projections.register("shared_qkv")
class SharedQKV(nn.Module):
    """q = k = v = W x

    Source: Kitaev et al. 2020 (Reformer), arXiv:2001.04451, section 2, taken one role further.
    """

    def __init__(self, sizes: Sizes, query_gain: float, *, bias: bool = False) -> None:
        super().__init__()
        refuse_groups(sizes, "shared_qkv")
        self.heads, inner = sizes.heads, sizes.heads * sizes.head_width
        self.query = Linear(sizes.width, inner, bias=bias, gain=query_gain)

    def forward(self, x: Hidden) -> tuple[Heads, Heads, Heads]:
        shared = split(self.query(x), self.heads)
        return shared, shared, shared
