"""Norms rescale each feature vector."""

from typing import Protocol

import torch
from torch import nn

from components.registry import Registry
from components.shapes import Vector


class Norm(Protocol):
    """Same shape and type in and out; only the last axis is read; statistics in float32."""

    def __init__(self, width: int) -> None: ...
    def __call__(self, x: Vector) -> Vector: ...


norms: Registry[nn.Module] = Registry(Norm, roles=("qk_norm",))


def wide(x: Vector) -> Vector:
    """x in float32, or in its own type if that is wider: the type for statistics."""
    return x.to(torch.promote_types(x.dtype, torch.float32))
