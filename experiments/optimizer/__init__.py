"""Optimizers, over torch's own."""

from typing import NamedTuple, Protocol

from torch import nn
from torch.optim import Optimizer

from components.registry import Registry


class OptimizerKind(Protocol):
    """An optimizer for all of a model's parameters."""

    def __init__(self, model: nn.Module) -> None: ...


optimizers: Registry[Optimizer] = Registry(OptimizerKind)


class Groups(NamedTuple):
    """A model's parameters, each once however often it is used: matrices are decayed, vectors are not."""

    matrices: list[nn.Parameter]
    vectors: list[nn.Parameter]


def groups(model: nn.Module) -> Groups:
    """Parameters of two or more axes, and the rest (gains, biases).

    >>> [len(group) for group in groups(nn.Linear(3, 2))]
    [1, 1]
    """
    parameters = list(model.parameters())
    return Groups([p for p in parameters if p.ndim > 1], [p for p in parameters if p.ndim <= 1])
