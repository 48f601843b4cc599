"""Norms rescale each feature vector."""

from typing import Protocol

from torch import nn

from components.registry import Registry
from components.shapes import Vector


class Norm(Protocol):
    """Same shape and type in and out; only the last axis is read; statistics in float32."""

    def __init__(self, width: int) -> None: ...
    def __call__(self, x: Vector) -> Vector: ...


norms: Registry[nn.Module] = Registry(Norm, roles=("qk_norm",))
