"""Feed-forward networks transform each token alone."""

from enum import StrEnum
from typing import Protocol

from torch import nn

from components.linear import Linear, Writer
from components.registry import Registry
from components.shapes import Hidden


class FFN(Protocol):
    """Same shape in and out; no token sees another."""

    def __init__(self, width: int) -> None: ...
    def __call__(self, x: Hidden) -> Hidden: ...


ffns: Registry[nn.Module] = Registry(FFN)


class Approximation(StrEnum):
    """How x Φ(x) is computed: as it is, or as ½ x (1 + tanh(√(2/π) (x + 0.044715 x³)))."""

    none = "none"
    tanh = "tanh"


class TwoLayer(nn.Module):
    """W₂ activation(W₁ x): the form that all ungated networks share."""

    def __init__(self, width: int, hidden: int, activation: nn.Module, bias: bool) -> None:
        super().__init__()
        self.up = Linear(width, hidden, bias=bias)
        self.activation = activation
        self.down = Writer(hidden, width, bias=bias)

    def forward(self, x: Hidden) -> Hidden:
        return self.down(self.activation(self.up(x)))


class Gated(nn.Module):
    """W₂ (activation(W_g x) ⊙ W₁ x): the form that all gated networks share."""

    def __init__(self, width: int, hidden: int, activation: nn.Module, bias: bool) -> None:
        super().__init__()
        self.gate = Linear(width, hidden, bias=bias)
        self.up = Linear(width, hidden, bias=bias)
        self.activation = activation
        self.down = Writer(hidden, width, bias=bias)

    def forward(self, x: Hidden) -> Hidden:
        return self.down(self.activation(self.gate(x)) * self.up(x))
