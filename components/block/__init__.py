"""Blocks compose the sublayers of a layer."""

from typing import Protocol

from torch import nn

from components.position import Position
from components.registry import Registry
from components.shapes import Hidden
from components.sublayer import SublayerBase


class Block(Protocol):
    """Two sublayers into one layer; both keep their names as children `mixer` and `ffn`."""

    def __init__(self, mixer: SublayerBase, ffn: SublayerBase) -> None: ...
    def __call__(self, x: Hidden, position: Position) -> Hidden: ...


blocks: Registry[nn.Module] = Registry(Block)
