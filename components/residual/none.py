"""No residual: each branch overwrites the stream."""

from components.residual import Residual, residuals
from components.shapes import Hidden


@residuals.register("none")
class NoResidual(Residual):
    """y = update"""

    ignores = frozenset({"x"})

    def __init__(self, width: int, depth: int) -> None:
        super().__init__(width, depth)

    def forward(self, x: Hidden, update: Hidden) -> Hidden:
        del x
        return update
