"""Three linear maps, one for each role."""

from torch import nn

from components.linear import Linear, Selector
from components.parts import Sizes
from components.projection import projections, split
from components.shapes import Heads, Hidden


@projections.register("separate")
class Separate(nn.Module):
    """q, k, v = W_q x, W_k x, W_v x; with fewer key/value heads, each serves a group of query heads

    Source: Vaswani et al. 2017, arXiv:1706.03762, section 3.2.2; groups, Ainslie et al. 2023, arXiv:2305.13245.
    """

    def __init__(self, sizes: Sizes, query_gain: float, *, bias: bool = False) -> None:
        super().__init__()
        self.heads, self.key_value_heads = sizes.heads, sizes.key_value_heads
        shared = sizes.key_value_heads * sizes.head_width
        self.query = Selector(sizes.width, sizes.heads * sizes.head_width, bias=bias, gain=query_gain)
        self.key = Selector(sizes.width, shared, bias=bias)
        self.value = Linear(sizes.width, shared, bias=bias)

    def forward(self, x: Hidden) -> tuple[Heads, Heads, Heads]:
        k, v = (split(role(x), self.key_value_heads) for role in (self.key, self.value))
        if (group := self.heads // self.key_value_heads) > 1:
            k, v = k.repeat_interleave(group, 1), v.repeat_interleave(group, 1)
        return split(self.query(x), self.heads), k, v
