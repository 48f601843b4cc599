"""No positions: order is known only through the causal mask."""

from components.parts import Sizes
from components.position import Position, positions


@positions.register("none")
class NoPosition(Position):
    """y = x

    Source: Haviv et al. 2022, arXiv:2203.16634 (NoPos).
    """

    def __init__(self, sizes: Sizes) -> None:
        super().__init__(sizes)
