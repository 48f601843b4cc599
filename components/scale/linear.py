"""The scale of maximal update parametrisation."""

from components.scale import Scale, scales
from components.shapes import Heads


@scales.register("linear")
class Linear(Scale):
    """q / K, for queries and keys that have come to correlate

    Source: Yang et al. 2022 (μTransfer), arXiv:2203.03466, definition 4.1.
    """

    def __init__(self, head_width: int) -> None:
        super().__init__(head_width)
        self.factor = 1 / head_width

    def forward(self, q: Heads) -> Heads:
        return q * self.factor
