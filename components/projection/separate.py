"""Three linear maps, one for each role."""

from torch import nn

from components.linear import Linear
from components.parts import Sizes
from components.projection import projections
from components.shapes import Heads, Hidden


@projections.register("separate")
class Separate(nn.Module):
    """q, k, v = W_q x, W_k x, W_v x

    Source: Vaswani et al. 2017, arXiv:1706.03762, section 3.2.2.
    """

    def __init__(self, sizes: Sizes, query_gain: float, *, bias: bool = False) -> None:
        super().__init__()
        self.heads = sizes.heads
        self.query = Linear(sizes.width, sizes.width, bias=bias, gain=query_gain)
        self.key = Linear(sizes.width, sizes.width, bias=bias)
        self.value = Linear(sizes.width, sizes.width, bias=bias)

    def forward(self, x: Hidden) -> tuple[Heads, Heads, Heads]:
        return self._split(self.query(x)), self._split(self.key(x)), self._split(self.value(x))

    def _split(self, x: Hidden) -> Heads:
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)
