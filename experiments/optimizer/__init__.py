"""Optimizers, over torch's own."""

from collections.abc import Sequence
from typing import Any, Protocol

from torch import nn
from torch.optim import Optimizer

from components.registry import Registry


class OptimizerKind(Protocol):
    """An optimizer for all of a model's parameters."""

    def __init__(self, model: nn.Module) -> None: ...


optimizers: Registry[Optimizer] = Registry(OptimizerKind)


def decayed(model: nn.Module, weight_decay: float, without: Sequence[nn.Parameter] = ()) -> list[dict[str, Any]]:
    """A model's parameters in groups, each once however often it is used: matrices are decayed, vectors are not.

    >>> [(len(group["params"]), group["weight_decay"]) for group in decayed(nn.Linear(3, 2), 0.1)]
    [(1, 0.1), (1, 0.0)]
    """
    left_out = {id(parameter) for parameter in without}
    parameters = [parameter for parameter in model.parameters() if id(parameter) not in left_out]
    matrices, vectors = [p for p in parameters if p.ndim > 1], [p for p in parameters if p.ndim <= 1]
    groups = [{"params": matrices, "weight_decay": weight_decay}, {"params": vectors, "weight_decay": 0.0}]
    return [group for group in groups if group["params"]]
