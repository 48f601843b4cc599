"""Draw every weight from (seed, the weight's own name).

So that two models that differ in one part share every other weight bit for bit: a module that is
added, removed or swapped shifts no draw of any other. The noise that a seed brings is then common
to all arms of an experiment, and a difference between them can be paired by seed.
"""

import hashlib
from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

import torch
from torch import nn


class Deviations(Protocol):
    """The standard deviations at initialisation, by a weight's role."""

    def embedding(self, width: int) -> float: ...
    def linear(self, fan_in: int, fan_out: int) -> float: ...
    def writer(self, fan_in: int, fan_out: int) -> float: ...


def key(*words: object) -> int:
    """A 63-bit number for a tuple of words, the same on every machine.

    >>> key(0, "layers.0.mixer.query")
    163411925107540684
    """
    text = "\x1f".join(str(word) for word in words)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1


def draw(module: nn.Module, seed: int, deviations: Deviations | None = None) -> None:
    """Fill the module's weights in place, each submodule's from a generator keyed by (seed, its name).

    With `deviations`, modules that have a role are drawn from N(0, deviation²): those with a method `draw`
    (`components.linear`), and torch's linear maps, embeddings and recurrent cells (`ROLES`). All others are
    drawn by their own `reset_parameters`, so any `torch.nn` module can be given common random numbers too.
    Parameters that no module resets keep their value, and must be constants.

    Raises ValueError if a parameter that no module resets holds random values.
    """
    reset: set[int] = set()
    children: list[tuple[str, Any]] = list(module.named_modules())
    for name, child in children:
        own = list(child.parameters(recurse=False))
        if deviations is not None and (role := _role(child)) is not None:
            role(deviations, torch.Generator(_device(own)).manual_seed(key(seed, name)))
        elif (redraw := _reset(child)) is not None:
            with torch.random.fork_rng(devices=_accelerators(own)):
                torch.manual_seed(key(seed, name))
                redraw()
        else:
            continue
        reset |= {id(parameter) for parameter in child.parameters()}
    for name, parameter in module.named_parameters():
        if id(parameter) not in reset and parameter.numel() > 1 and bool((parameter != parameter.flatten()[0]).any()):
            raise ValueError(
                f"no module resets {name!r}, yet its values vary: give its module a `reset_parameters` method"
            )


def _role(module: nn.Module) -> Callable[[Deviations, torch.Generator], None] | None:
    """How the module is drawn from an init's deviations; None where it has no role."""
    own = getattr(module, "draw", None)
    return own or next((partial(fill, module) for kind, fill in ROLES.items() if isinstance(module, kind)), None)


@torch.no_grad()
def draw_linear(module: nn.Linear, deviations: Deviations, generator: torch.Generator) -> None:
    """W from N(0, deviation²), b = 0."""
    module.weight.normal_(generator=generator).mul_(deviations.linear(module.in_features, module.out_features))
    if module.bias is not None:
        module.bias.zero_()


@torch.no_grad()
def draw_embedding(module: nn.Embedding, deviations: Deviations, generator: torch.Generator) -> None:
    """Rows from N(0, deviation²)."""
    module.weight.normal_(generator=generator).mul_(deviations.embedding(module.embedding_dim))


@torch.no_grad()
def draw_cell(module: nn.RNNBase, deviations: Deviations, generator: torch.Generator) -> None:
    """The maps of every gate, from the input and from the state, as linear maps of their own; biases 0."""
    for parameter in module.parameters(recurse=False):
        if parameter.ndim == 1:
            parameter.zero_()
        else:
            rows, columns = parameter.shape
            deviation = deviations.linear(columns, min(rows, module.hidden_size))  # rows of all gates are stacked
            parameter.normal_(generator=generator).mul_(deviation)


ROLES: dict[type[nn.Module], Callable[..., None]] = {
    nn.Linear: draw_linear, nn.Embedding: draw_embedding, nn.RNNBase: draw_cell,
}  # fmt: skip


def _reset(module: nn.Module) -> Callable[[], None] | None:
    """The module's own way of drawing its weights; torch spells it in two ways."""
    return getattr(module, "reset_parameters", None) or getattr(module, "_reset_parameters", None)


def _device(parameters: list[nn.Parameter]) -> torch.device:
    return parameters[0].device if parameters else torch.device("cpu")


def _accelerators(parameters: list[nn.Parameter]) -> list[torch.device]:
    return [device for device in {parameter.device for parameter in parameters} if device.type == "cuda"]
