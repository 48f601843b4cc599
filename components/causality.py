"""Promises about time: no token sees the one after it, and what attention says of itself is so."""

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from components.broken import BrokenContract
from components.example import EXTENTS, Call, axes_of, calls, make
from components.registry import Registry


def sees_no_future(registry: Registry[Any], name: str) -> None:
    """Overwriting the last token with 10⁴ leaves every earlier result as it was, bit for bit."""
    part = make(registry, name)
    for call in (call for call in calls(registry) if call.axes):
        before, after = call.arguments(), call.arguments()
        for argument, axes in call.axes.items():
            for axis in {"T", "S"} & set(axes):
                last = torch.tensor([EXTENTS[axis] - 1])
                after[argument] = after[argument].detach().index_fill(axes.index(axis), last, 1e4)
        pairs = zip(call.on(part, before), call.on(part, after), call.promises, strict=True)
        if not all(_same_past(result, changed, promise) for result, changed, promise in pairs):
            raise BrokenContract(f"{call.method} lets a token see the one after it")


def _same_past(result: Any, changed: Any, promise: Any) -> bool:
    axes = axes_of(promise)
    if not isinstance(result, Tensor) or "T" not in axes:
        return True
    past = torch.arange(EXTENTS["T"] - 1)
    return torch.equal(result.index_select(axes.index("T"), past), changed.index_select(axes.index("T"), past))


def feels_no_future(registry: Registry[Any], name: str) -> None:
    """∂ (random projection of token t's result) / ∂ (input at s) is exactly 0 for every s > t

    Random, since the plain sum of a LayerNorm's output has no gradient at all and would prove nothing.
    """
    part = make(registry, name)
    for call in (call for call in calls(registry) if call.axes):
        arguments = call.arguments()
        inputs = {argument: axes for argument, axes in call.axes.items() if {"T", "S"} & set(axes)}
        for time, result in _by_time(call, call.on(part, arguments)):
            projected = (result * torch.randn(result.shape, generator=torch.Generator().manual_seed(time))).sum()
            tensors = [arguments[argument] for argument in inputs]
            gradients = torch.autograd.grad(projected, tensors, retain_graph=True, allow_unused=True)
            for axes, gradient in zip(inputs.values(), gradients, strict=True):
                axis = next(i for i, letter in enumerate(axes) if letter in ("T", "S"))
                if gradient is not None and bool(gradient.narrow(axis, time + 1, EXTENTS["T"] - time - 1).any()):
                    raise BrokenContract(f"{call.method} sends gradient from a token to the one after it")


def _by_time(call: Call, results: tuple[Any, ...]) -> Iterator[tuple[int, Tensor]]:
    """Each result that hangs on an input, at each time but the last."""
    for result, promise in zip(results, call.promises, strict=True):
        axes = axes_of(promise)
        if isinstance(result, Tensor) and result.requires_grad and "T" in axes:
            yield from ((time, result.select(axes.index("T"), time)) for time in range(EXTENTS["T"] - 1))


def explains_itself(registry: Registry[Any], name: str) -> None:
    """core(q, k, v, bias) = weights(q, k, bias) @ v in float64, and a query that sees no key reads zeros."""
    if "weights" not in {call.method for call in calls(registry)}:
        return
    part = make(registry, name).double()
    q, k, v = _random_heads()
    blind = torch.zeros(1, 1, 5, 5, dtype=torch.double).index_fill(-2, torch.tensor([2]), -torch.inf)
    for bias in (None, blind):
        if not torch.allclose(part(q, k, v, bias), part.weights(q, k, bias) @ v, rtol=1e-9, atol=1e-12):
            raise BrokenContract("its output is not its weights times the values")
    if bool(part(q, k, v, blind)[..., 2, :].any()):
        raise BrokenContract("a query that sees no key reads something other than zeros")


def goes_on(registry: Registry[Any], name: str) -> None:
    """The last queries alone, against all keys, read what they read among all queries: decoding with cached keys."""
    if "weights" not in {call.method for call in calls(registry)}:
        return
    part = make(registry, name).double()
    q, k, v = _random_heads()
    for new in (1, 2):
        alone = part(q[..., -new:, :], k, v, None), part.weights(q[..., -new:, :], k, None)
        among = part(q, k, v, None)[..., -new:, :], part.weights(q, k, None)[..., -new:, :]
        if not all(torch.allclose(a, b, rtol=1e-9, atol=1e-12) for a, b in zip(alone, among, strict=True)):
            raise BrokenContract(f"the last {new} of 5 queries read something else when they come alone")


def _random_heads() -> tuple[Tensor, Tensor, Tensor]:
    """Queries, keys and values, B H T K, float64."""
    q, k, v = (
        torch.randn(2, 3, 5, 4, dtype=torch.double, generator=torch.Generator().manual_seed(i)) for i in range(3)
    )
    return q, k, v
