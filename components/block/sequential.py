"""One sublayer after the other."""

from torch import nn

from components.block import blocks
from components.position import Position
from components.shapes import Hidden
from components.sublayer import Stage


@blocks.register("sequential")
class Sequential(nn.Module):
    """y = ffn(mixer(x))

    Source: Vaswani et al. 2017, arXiv:1706.03762, section 3.1.
    """

    def __init__(self, mixer: Stage, ffn: Stage) -> None:
        super().__init__()
        self.mixer, self.ffn = mixer, ffn

    def forward(self, x: Hidden, position: Position) -> Hidden:
        return self.ffn(self.mixer(x, position))
