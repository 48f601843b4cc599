"""What goes through a model for one batch, seen from outside: hooks at its modules' borders, gone again after it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from components.attention import attentions
from components.mask import seen
from components.model import Decoder
from components.residual import Residual
from components.shapes import Bias, Heads, Hidden, Logits, Losses, Tokens, Weights

START = "embedding"  # the stream before the first layer; after layer i it is `layers.i`


@dataclass(frozen=True)
class Read:
    """What an attention core was given: q scaled and rotated, k rotated."""

    core: Any
    q: Heads
    k: Heads
    bias: Bias | None

    def shares(self) -> Weights:
        """How much each query read of each key."""
        return self.core.weights(self.q, self.k, self.bias)

    def visible(self) -> Tensor:
        """True where a query may look."""
        return seen(self.q, self.k, self.bias) > -torch.inf


@dataclass(frozen=True)
class Joined:
    """A residual: the stream, what the branch had to say, and what became of them."""

    residual: Residual
    x: Hidden
    update: Hidden
    y: Hidden


@dataclass
class Seen:
    """One batch's way through a model: the stream at each place, attention and residuals by the layer they are in."""

    tokens: Tokens
    stream: dict[str, Hidden] = field(default_factory=dict)
    reads: dict[str, Read] = field(default_factory=dict)
    joins: dict[str, Joined] = field(default_factory=dict)
    logits: Logits = field(default_factory=lambda: torch.empty(0))
    losses: Losses = field(default_factory=lambda: torch.empty(0))


def observed(model: Decoder, tokens: Tokens) -> Seen:
    """One forward pass, never the compiled one, whose hooks would not be called."""
    found = Seen(tokens)
    with _watched(model, found):
        found.logits = model.forward(tokens)
    return found


def places(model: Decoder) -> list[str]:
    """Where the stream can be seen: before the first layer, and after each."""
    return [START, *(f"layers.{number}" for number in range(len(model.layers)))]


def reading(model: Decoder) -> dict[str, nn.Module]:
    """The attention cores, by the layers they are in."""
    cores = {name: module for name, module in model.named_modules() if _is_core(module)}
    return {".".join(name.split(".")[:2]): core for name, core in cores.items()}


def joining(model: Decoder) -> dict[str, Residual]:
    """The residuals, by layer and sublayer: `layers.0.mixer`."""
    found = {name: module for name, module in model.named_modules() if isinstance(module, Residual)}
    return {name.rpartition(".")[0]: residual for name, residual in found.items()}


def _is_core(module: nn.Module) -> bool:
    parts = (attentions[name] for name in attentions.names())
    return any(isinstance(module, part) for part in parts if isinstance(part, type))


@contextmanager
def _watched(model: Decoder, found: Seen) -> Iterator[None]:
    """Note what passes while this lasts."""

    def arrives(module: nn.Module, given: Any) -> None:
        found.stream[START] = given[0]

    def leaves(place: str) -> Callable[..., None]:
        return lambda module, given, result: found.stream.__setitem__(place, result)

    def reads(place: str) -> Callable[..., None]:
        return lambda core, given: found.reads.__setitem__(place, Read(core, given[0], given[1], given[3]))

    def joins(place: str) -> Callable[..., None]:
        return lambda residual, given, result: found.joins.__setitem__(
            place, Joined(residual, given[0], given[1], result)
        )

    layers = dict(zip(places(model)[1:], model.layers, strict=True))
    hooks = [next(iter(layers.values())).register_forward_pre_hook(arrives)]
    hooks += [layer.register_forward_hook(leaves(place)) for place, layer in layers.items()]
    hooks += [core.register_forward_pre_hook(reads(place)) for place, core in reading(model).items()]
    hooks += [residual.register_forward_hook(joins(place)) for place, residual in joining(model).items()]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()
