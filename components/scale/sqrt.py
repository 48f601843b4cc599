"""The scale of the original Transformer."""

from components.scale import Scale, scales
from components.shapes import Heads


@scales.register("sqrt")
class Sqrt(Scale):
    """q / √K, so that q·k of independent entries of unit variance has unit variance

    Source: Vaswani et al. 2017, arXiv:1706.03762, section 3.2.1.
    """

    def __init__(self, head_width: int) -> None:
        super().__init__(head_width)
        self.factor = head_width**-0.5

    def forward(self, q: Heads) -> Heads:
        return q * self.factor
