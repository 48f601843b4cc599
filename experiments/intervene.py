"""Reach into a trained model for one forward pass: replace what a head, a sublayer or a layer says, or the stream."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from components.model import Decoder
from components.shapes import Hidden
from experiments.observe import START, joining, reading

Replacement = Callable[[Tensor], Tensor]


def zero(value: Tensor) -> Tensor:
    """0: the site is silent."""
    return torch.zeros_like(value)


def mean(value: Tensor) -> Tensor:
    """The mean over sequences and tokens, the first axis and the last but one: the site says the same to all."""
    return value.mean((0, -2), keepdim=True).expand_as(value)


def sites(model: Decoder) -> list[str]:
    """All that can be replaced: `layers.0.heads.1` of attention, sublayers `layers.0.ffn`, and whole layers."""
    heads = [f"{place}.heads.{head}" for place in reading(model) for head in range(model.sizes.heads)]
    sublayers = list(joining(model))
    return [*heads, *sublayers, *dict.fromkeys(name.rpartition(".")[0] for name in sublayers)]


@contextmanager
def replaced(model: Decoder, site: str, replacement: Replacement) -> Iterator[None]:
    """While this lasts, what the site would write is replaced; a layer's are the updates of all its residuals.

    Raises KeyError if the model has no such site.
    """
    layer, _, rest = site.partition(".heads.")
    if rest:
        hooks = [reading(model)[layer].register_forward_hook(_head(int(rest), replacement))]
    else:
        inside = [residual for name, residual in joining(model).items() if f"{name}.".startswith(f"{site}.")]
        hooks = [residual.register_forward_pre_hook(_update(replacement)) for residual in inside]
    if not hooks:
        raise KeyError(f"there is no {site} in this model; there are: {', '.join(sites(model))}")
    with _gone(hooks):
        yield


@contextmanager
def patched(model: Decoder, place: str, where: Tensor, donor: Hidden) -> Iterator[None]:
    """While this lasts, the stream at `place` is the donor's where `where` (B T) is true."""

    def exchange(x: Hidden) -> Hidden:
        return torch.where(where.unsqueeze(-1), donor, x)

    def arrives(module: nn.Module, given: Any) -> Any:
        return (exchange(given[0]), *given[1:])

    def leaves(module: nn.Module, given: Any, result: Hidden) -> Hidden:
        return exchange(result)

    first: Any = model.layers[0]
    with _gone([
        first.register_forward_pre_hook(arrives)
        if place == START
        else model.get_submodule(place).register_forward_hook(leaves)
    ]):  # fmt: skip
        yield


def _head(number: int, replacement: Replacement) -> Any:
    def hook(core: nn.Module, given: Any, result: Tensor) -> Tensor:
        parts = list(result.unbind(1))
        parts[number] = replacement(parts[number])
        return torch.stack(parts, 1)

    return hook


def _update(replacement: Replacement) -> Any:
    return lambda residual, given: (given[0], replacement(given[1]))


@contextmanager
def _gone(hooks: list[Any]) -> Iterator[None]:
    """Remove the hooks in the end."""
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()
