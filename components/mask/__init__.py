"""Masks say who may look at whom."""

from typing import Annotated, Protocol

import torch
from torch import Tensor

from components.position import Position
from components.registry import Registry
from components.shapes import Bias, Heads, Hidden

Allowed = Annotated[Tensor, "T S"]


class Mask(Protocol):
    """Which keys (S) each query (T) may look at, as booleans; queries are the last T of S positions.

    `plain` tells attention that this is the causal mask its fused kernels know.
    """

    plain: bool

    def __init__(self) -> None: ...
    def __call__(self, queries: int, keys: int, device: torch.device) -> Allowed: ...


masks: Registry[Mask] = Registry(Mask)


def causal_mask(queries: int, keys: int, device: torch.device | str = "cpu") -> Allowed:
    """True where the key is no later than the query.

    >>> causal_mask(2, 3)
    tensor([[ True,  True, False],
            [ True,  True,  True]])
    """
    return torch.ones(queries, keys, dtype=torch.bool, device=device).tril(keys - queries)


def additive(allowed: Allowed, dtype: torch.dtype) -> Tensor:
    """0 where allowed, −inf elsewhere."""
    return torch.zeros_like(allowed, dtype=dtype).masked_fill(~allowed, -torch.inf)


def seen(q: Heads, k: Heads, bias: Bias | None) -> Bias:
    """The bias itself, or that of the causal mask where None stands for it."""
    return additive(causal_mask(q.shape[-2], k.shape[-2], q.device), q.dtype)[None, None] if bias is None else bias


def bias_of(mask: Mask, position: Position, x: Hidden) -> Bias | None:
    """What attention adds to q·k: the position's bias, −inf where the mask hides; None for plain causal."""
    length, bias = x.shape[-2], position.bias(x.shape[-2], x.device)
    if bias is None and mask.plain:
        return None
    hidden = additive(mask(length, length, x.device), x.dtype)[None, None]
    return hidden if bias is None else bias.to(x.dtype) + hidden
