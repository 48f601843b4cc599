"""Blocks compose the sublayers of a layer."""

from typing import Protocol

from torch import nn

from components.position import Position
from components.registry import Registry
from components.shapes import Hidden
from components.sublayer import Stage


class Block(Protocol):
    """Two sublayers into one layer; both keep their names as children `mixer` and `ffn`."""

    def __init__(self, mixer: Stage, ffn: Stage) -> None: ...
    def __call__(self, x: Hidden, position: Position) -> Hidden: ...


blocks: Registry[nn.Module] = Registry(Block)
