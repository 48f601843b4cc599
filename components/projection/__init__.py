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


def split(x: Hidden, heads: int) -> Heads:
    """B T D to B H T K: the width cut into heads."""
    return x.unflatten(-1, (heads, -1)).transpose(1, 2)


def refuse_groups(sizes: Sizes, projection: str) -> None:
    """Raises ValueError for a projection whose keys and values come from the queries' own heads."""
    if sizes.key_value_heads != sizes.heads:
        raise ValueError(
            f"projection={projection} has one key and value for each query head: model.key_value_heads="
            f"{sizes.key_value_heads} must be model.heads={sizes.heads}, or take projection=separate"
        )
