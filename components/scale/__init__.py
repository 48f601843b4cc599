"""Scales set what multiplies q·k, the temperature of attention."""

from torch import nn

from components.registry import Registry
from components.shapes import Heads


class Scale(nn.Module):
    """Multiplies the queries. `query_gain` is a factor on the query's initial weights, for scales that act there."""

    query_gain: float = 1.0

    def __init__(self, head_width: int) -> None:
        super().__init__()

    def __call__(self, q: Heads) -> Heads:
        return super().__call__(q)


scales: Registry[Scale] = Registry(Scale)
