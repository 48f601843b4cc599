"""Projections say how queries, keys and values come from the stream."""

from typing import Protocol

from torch import nn

from components.parts import Sizes
from components.registry import Registry
from components.shapes import Heads, Hidden


class Projection(Protocol):
    """x to (q, k, v), each split into heads; `query_gain` is the factor on the query's initial weights."""

    def __init__(self, sizes: Sizes, query_gain: float) -> None: ...
    def __call__(self, x: Hidden) -> tuple[Heads, Heads, Heads]: ...


projections: Registry[nn.Module] = Registry(Projection)
