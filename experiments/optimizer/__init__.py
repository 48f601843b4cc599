"""Optimizers, over torch's own."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Any, Protocol

from torch import nn
from torch.optim import Optimizer

from components.linear import Unembedding
from components.registry import Registry


class Decay(StrEnum):
    """Which parameters weight decay shrinks, by the role that they play.

    linear: linear maps, those of recurrent cells among them. Arms that differ in a position or in a readout that is
        tied or not have the same weights decayed.
    matrices: linear maps, and tables with a row for each token, position or bucket of distances: embeddings, learned
        positions, the readout. This is the rule of BERT's and nanoGPT's released code, and the default.
    all: vectors too (biases, gains, single numbers), as torch's optimizers do unless they are told otherwise.
    """

    linear = "linear"
    matrices = "matrices"
    all = "all"


class Role(StrEnum):
    """What a parameter is to its module: a linear map, a table of rows, or a vector."""

    map = "map"
    table = "table"
    vector = "vector"


SHRUNK = {Decay.linear: {Role.map}, Decay.matrices: {Role.map, Role.table}, Decay.all: set(Role)}


class OptimizerKind(Protocol):
    """An optimizer for all of a model's parameters."""

    def __init__(self, model: nn.Module) -> None: ...


optimizers: Registry[Optimizer] = Registry(OptimizerKind)


def roles(model: nn.Module) -> dict[str, Role]:
    """The role of each parameter by its name; one that several modules use has that of the first.

    >>> {name: str(role) for name, role in roles(nn.Sequential(nn.Embedding(5, 3), nn.Linear(3, 1))).items()}
    {'0.weight': 'table', '1.weight': 'map', '1.bias': 'vector'}
    """
    owners: dict[nn.Parameter, nn.Module] = {}
    for module in model.modules():
        for parameter in module.parameters(recurse=False):
            owners.setdefault(parameter, module)
    return {name: _role(owners[parameter], parameter) for name, parameter in model.named_parameters()}


def _role(module: nn.Module, parameter: nn.Parameter) -> Role:
    """A parameter of modules that are not known to be maps is a vector if at most one of its axes is longer than 1."""
    if parameter.ndim > 1 and isinstance(module, nn.Embedding | Unembedding):
        return Role.table
    if parameter.ndim > 1 and (isinstance(module, nn.Linear) or parameter.squeeze().ndim > 1):
        return Role.map
    return Role.vector


def decayed(
    model: nn.Module, weight_decay: float, decay: Decay = Decay.matrices, without: Sequence[nn.Parameter] = ()
) -> list[dict[str, Any]]:
    """A model's parameters in groups, each once however often it is used: those that decay, and those that do not.

    >>> [(len(group["params"]), group["weight_decay"]) for group in decayed(nn.Linear(3, 2), 0.1)]
    [(1, 0.1), (1, 0.0)]
    """
    left_out = {id(parameter) for parameter in without}
    role = roles(model)
    named = [(name, parameter) for name, parameter in model.named_parameters() if id(parameter) not in left_out]
    shrunk = [parameter for name, parameter in named if role[name] in SHRUNK[Decay(decay)]]
    kept = [parameter for name, parameter in named if role[name] not in SHRUNK[Decay(decay)]]
    groups = [{"params": shrunk, "weight_decay": weight_decay}, {"params": kept, "weight_decay": 0.0}]
    return [group for group in groups if group["params"]]


def decays(model: nn.Module, optimizer: Optimizer) -> dict[float, list[str]]:
    """Names of the model's parameters by the weight decay that this optimizer gives them, in the model's order.

    >>> from torch.optim import SGD
    >>> layer = nn.Linear(3, 2)
    >>> decays(layer, SGD(decayed(layer, 0.1), lr=1.0))
    {0.1: ['weight'], 0.0: ['bias']}
    """
    of = {parameter: group["weight_decay"] for group in optimizer.param_groups for parameter in group["params"]}
    names: dict[float, list[str]] = {}
    for name, parameter in model.named_parameters():
        names.setdefault(of[parameter], []).append(name)
    return names
