"""Multi-head attention: projection, position, scale, core, mask and output."""

from torch import nn

from components.linear import Writer
from components.mask import bias_of
from components.mixer import mixers
from components.parts import Parts, Sizes
from components.position import Position
from components.shapes import Hidden


@mixers.register("attention")
class MultiHead(nn.Module):
    """y = concat_h(core(scale(rotate(q_h)), rotate(k_h), v_h)) Wᵀ, with q, k, v from the projection

    Source: Vaswani et al. 2017, arXiv:1706.03762, section 3.2.2.
    """

    def __init__(self, sizes: Sizes, parts: Parts, *, bias: bool = False) -> None:
        super().__init__()
        self.scale = parts["scale"](sizes.head_width)
        self.projection = parts["projection"](sizes, self.scale.query_gain)
        self.attention = parts["attention"]()
        self.mask = parts["mask"]()
        self.output = Writer(sizes.width, sizes.width, bias=bias)

    def forward(self, x: Hidden, position: Position) -> Hidden:
        q, k, v = self.projection(x)
        q, k = self.scale(position.rotate(q)), position.rotate(k)
        y = self.attention(q, k, v, bias_of(self.mask, position, x))
        return self.output(y.transpose(1, 2).flatten(2))
