"""Attention cores turn queries, keys and values into what each query reads."""

from typing import Protocol

from torch import nn

from components.registry import Registry
from components.shapes import Bias, Heads, Weights


class Attention(Protocol):
    """Two answers about the same q, k, v that agree: core(q, k, v, bias) = weights(q, k, bias) @ v.

    q comes scaled. `bias` is added to q·k, −inf where a key is hidden; None means plain causal,
    the path that fused kernels know. A query that sees no key reads zeros.
    """

    def __init__(self) -> None: ...
    def __call__(self, q: Heads, k: Heads, v: Heads, bias: Bias | None) -> Heads: ...
    def weights(self, q: Heads, k: Heads, bias: Bias | None) -> Weights:
        """How much each query reads of each key."""
        ...


attentions: Registry[nn.Module] = Registry(Attention)
