"""No residual: each branch overwrites the stream."""

from torch import nn

from components.residual import residuals
from components.shapes import Hidden


@residuals.register("none")
class NoResidual(nn.Module):
    """y = update"""

    ignores = frozenset({"x"})

    def __init__(self, width: int, depth: int) -> None:
        del width, depth
        super().__init__()

    def forward(self, x: Hidden, update: Hidden) -> Hidden:
        del x
        return update
