"""One sublayer formula for every norm placement and every residual."""

from collections.abc import Callable

import torch
from torch import nn

from components.linear import Linear, Selector
from components.placement import Placement
from components.residual import Residual
from components.shapes import Hidden


class Stage(nn.Module):
    """What a block composes: `update` is what its branch has to say, `join` brings it into the stream."""

    def update(self, x: Hidden, *more: nn.Module) -> Hidden:
        """What is to be joined."""
        raise NotImplementedError

    def join(self, x: Hidden, update: Hidden) -> Hidden:
        """The stream with the update in it."""
        raise NotImplementedError

    def forward(self, x: Hidden, *more: nn.Module) -> Hidden:
        return self.join(x, self.update(x, *more))


class Sublayer(Stage):
    """y = after(residual(x, dropout(inside(branch(before(x)))))); an empty slot is the identity.

    Anything beyond x (positions, say) is handed to the branch.
    """

    def __init__(
        self,
        branch: nn.Module,
        norm: Callable[[], nn.Module],
        placement: Placement,
        residual: Residual,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.before = norm() if placement.before else nn.Identity()
        self.branch = branch
        self.inside = norm() if placement.inside else nn.Identity()
        self.residual = residual
        self.after = norm() if placement.after else nn.Identity()
        self.dropout = nn.Dropout(dropout)
        for module in branch.modules():
            if isinstance(module, Linear) and not isinstance(module, Selector):
                module.gain *= residual.branch_gain

    def update(self, x: Hidden, *more: nn.Module) -> Hidden:
        """dropout(inside(branch(before(x))))"""
        return self.dropout(self.inside(self.branch(self.before(x), *more)))

    def join(self, x: Hidden, update: Hidden) -> Hidden:
        """after(residual(x, update))"""
        return self.after(self.residual(x, update))


class Absent(Stage):
    """The sublayer that was knocked out whole, norm and residual included: y = x."""

    def update(self, x: Hidden, *more: nn.Module) -> Hidden:
        """0"""
        return torch.zeros_like(x)

    def join(self, x: Hidden, update: Hidden) -> Hidden:
        """x"""
        return x

    def forward(self, x: Hidden, *more: nn.Module) -> Hidden:
        return x


class Nothing(nn.Module):
    """The branch y = 0; a model leaves its sublayer out (`Absent`)."""

    def forward(self, x: Hidden, *more: nn.Module) -> Hidden:
        return torch.zeros_like(x)
