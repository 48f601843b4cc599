"""Residuals write a branch's output back into the stream."""

from typing import Protocol

from torch import nn

from components.registry import Registry
from components.shapes import Hidden


class Residual(Protocol):
    """Join the stream `x` and the branch's output `update`; `depth` counts the model's layers."""

    def __init__(self, width: int, depth: int) -> None: ...
    def __call__(self, x: Hidden, update: Hidden) -> Hidden: ...


residuals: Registry[nn.Module] = Registry(Residual)
