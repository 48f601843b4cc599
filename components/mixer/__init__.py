"""Mixers move information between tokens; nothing else in a model does."""

from typing import Protocol

from torch import nn

from components.parts import Parts, Sizes
from components.position import Position
from components.registry import Registry
from components.shapes import Hidden


class Mixer(Protocol):
    """Same shape in and out. A mixer that has parts of its own (projection, mask, …) asks `parts` for them."""

    def __init__(self, sizes: Sizes, parts: Parts) -> None: ...
    def __call__(self, x: Hidden, position: Position) -> Hidden: ...


mixers: Registry[nn.Module] = Registry(Mixer)
