"""Plain addition."""

from torch import nn

from components.residual import residuals
from components.shapes import Hidden


@residuals.register("add")
class Add(nn.Module):
    """y = x + update

    Source: He et al. 2015, arXiv:1512.03385, eq. 1.
    """

    def __init__(self, width: int, depth: int) -> None:
        del width, depth
        super().__init__()

    def forward(self, x: Hidden, update: Hidden) -> Hidden:
        return x + update
