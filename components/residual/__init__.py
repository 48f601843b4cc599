"""Residuals write a branch's output back into the stream."""

from torch import nn

from components.registry import Registry
from components.shapes import Hidden


class Residual(nn.Module):
    """Join the stream `x` and the branch's output `update`; `depth` counts the model's layers.

    `branch_gain` is a factor on the initial weights of the branch, for residuals that need it.
    """

    branch_gain: float = 1.0

    def __init__(self, width: int, depth: int) -> None:
        del width, depth
        super().__init__()

    def __call__(self, x: Hidden, update: Hidden) -> Hidden:
        return super().__call__(x, update)


residuals: Registry[Residual] = Registry(Residual)
