"""One sublayer formula for every norm placement and every residual."""

from collections.abc import Callable

import torch
from torch import nn

from components.placement import Placement
from components.shapes import Hidden


class Sublayer(nn.Module):
    """y = after(residual(x, inside(branch(before(x))))); an empty slot is the identity.

    `update` is what the branch has to say, `join` brings it into the stream: a block decides who
    listens to whom. Anything beyond x (positions, say) is handed to the branch.
    """

    def __init__(
        self,
        branch: nn.Module,
        norm: Callable[[], nn.Module],
        placement: Placement,
        residual: nn.Module,
    ) -> None:
        super().__init__()
        self.before = norm() if placement.before else nn.Identity()
        self.branch = branch
        self.inside = norm() if placement.inside else nn.Identity()
        self.residual = residual
        self.after = norm() if placement.after else nn.Identity()

    def update(self, x: Hidden, *more: nn.Module) -> Hidden:
        """inside(branch(before(x)))"""
        return self.inside(self.branch(self.before(x), *more))

    def join(self, x: Hidden, update: Hidden) -> Hidden:
        """after(residual(x, update))"""
        return self.after(self.residual(x, update))

    def forward(self, x: Hidden, *more: nn.Module) -> Hidden:
        return self.join(x, self.update(x, *more))


class Absent(nn.Module):
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
