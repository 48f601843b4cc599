"""No scale in the forward pass, but queries that start as small as it would make them."""

from components.scale import Scale, scales
from components.shapes import Heads


@scales.register("at_init")
class AtInit(Scale):
    """q, with W_q drawn √K smaller: the control that tells a scale from an initial temperature

    Source: the identity q·k / √K = (W_q/√K x)·k; Vaswani et al. 2017, arXiv:1706.03762, section 3.2.1.
    """

    def __init__(self, head_width: int) -> None:
        super().__init__(head_width)
        self.query_gain = head_width**-0.5

    def forward(self, q: Heads) -> Heads:
        return q
