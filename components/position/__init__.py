"""Positions tell tokens where they stand, through any of three entries."""

import torch
from torch import nn

from components.parts import Sizes
from components.registry import Registry
from components.shapes import Bias, Heads, Hidden


class Position(nn.Module):
    """Three entries, each with the identity as its default; a part overrides those it needs.

    `embed` acts once on the embedded tokens, `rotate` on the queries and keys of every layer,
    `bias` on every layer's q·k. Shared by all layers.
    """

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.sizes = sizes

    def embed(self, x: Hidden) -> Hidden:
        """x"""
        return x

    def rotate(self, x: Heads) -> Heads:
        """x"""
        return x

    def bias(self, length: int, device: torch.device) -> Bias | None:
        """None: nothing is added to q·k."""
        del length, device
        return None


positions: Registry[Position] = Registry(Position)
