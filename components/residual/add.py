"""Plain addition."""

from components.residual import Residual, residuals
from components.shapes import Hidden


@residuals.register("add")
class Add(Residual):
    """y = x + update

    Source: He et al. 2015, arXiv:1512.03385, eq. 1.
    """

    def __init__(self, width: int, depth: int) -> None:
        super().__init__(width, depth)

    def forward(self, x: Hidden, update: Hidden) -> Hidden:
        return x + update
