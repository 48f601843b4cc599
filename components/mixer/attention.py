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
    """y = W concat_h(core(scale(rotate(norm(q_h))), rotate(norm(k_h)), v_h)), with q, k, v from the projection

    Source: Vaswani et al. 2017, arXiv:1706.03762, section 3.2.2; qk_norm, Dehghani et al. 2023, arXiv:2302.05442.
    """

    def __init__(self, sizes: Sizes, parts: Parts, *, bias: bool = False) -> None:
        super().__init__()
        self.scale = parts["scale"](sizes.head_width)
        self.projection = parts["projection"](sizes, self.scale.query_gain)
        self.query_norm, self.key_norm = (parts["qk_norm"](sizes.head_width) for _ in range(2))
        self.attention = parts["attention"]()
        self.mask = parts["mask"]()
        self.output = Writer(sizes.heads * sizes.head_width, sizes.width, bias=bias)

    def forward(self, x: Hidden, position: Position) -> Hidden:
        q, k, v = self.projection(x)
        q, k = self.scale(position.rotate(self.query_norm(q))), position.rotate(self.key_norm(k))
        y = self.attention(q, k, v, bias_of(self.mask, position, x))
        return self.output(y.transpose(1, 2).flatten(2))
