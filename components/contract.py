"""Promises that every registered part keeps, checked from its kind's own annotations.

A new part is under contract by existing. The checks need no test framework, so that whoever
installed the package can run them on a part of their own.
"""

import inspect
import types
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin

import torch
from torch import Tensor, nn

from components.broken import BrokenContract
from components.causality import explains_itself, feels_no_future, goes_on, sees_no_future
from components.example import EXTENTS, SIZES, Call, calls, make, tupled
from components.init import inits
from components.initialise import draw
from components.registry import Registry
from components.sublayer import Nothing

KNOB_TYPES = (bool, int, float, str, Path)


def states_its_formula(registry: Registry[Any], name: str) -> None:
    """The docstring opens with a formula and names its source, unless it changes nothing."""
    text = inspect.getdoc(registry[name]) or ""
    if "Source:" not in text and not text.startswith("y = "):
        raise BrokenContract("its docstring names no source: open it with the formula and add a line `Source: …`")


def has_plain_knobs(registry: Registry[Any], name: str) -> None:
    """Every knob has a type that a configuration file can hold, and at most one is a switch."""
    knobs = registry.knobs(name)
    for knob, (hint, _) in knobs.items():
        plain = [each for each in get_args(hint) or (hint,) if each is not Ellipsis]
        if not all(isinstance(t, type) and issubclass(t, (*KNOB_TYPES, Enum, types.NoneType)) for t in plain):
            raise BrokenContract(
                f"its knob {knob} is a {hint}: use int, float, bool, str, Path, an Enum or a tuple of these"
            )
    if len(switches := [knob for knob, (hint, _) in knobs.items() if hint is bool]) > 1:
        raise BrokenContract(
            f"it has {len(switches)} boolean knobs ({', '.join(switches)}): one part, one switch at most"
        )


def keeps_shape_and_type(registry: Registry[Any], name: str) -> None:
    """Results have the declared shapes, and the type of the inputs, in float32 and bfloat16."""
    for dtype in (torch.float32, torch.bfloat16):
        part = make(registry, name)
        part = part.to(dtype) if isinstance(part, nn.Module) else part
        for call in calls(registry):
            results = call.on(part, call.arguments(dtype))
            for result, promise in zip(results, call.promises, strict=True):
                _same(call, result, promise, dtype if call.axes else None)


def _same(call: Call, result: Any, promise: Any, dtype: torch.dtype | None) -> None:
    """One result against its promise; its type too, unless no input says which."""
    if promise is float and not (isinstance(result, float) and 0 < result < float("inf")):
        raise BrokenContract(f"{call.method} gave {result!r}, must be a positive finite number")
    if get_origin(promise) is not Annotated or not isinstance(result, Tensor):
        return
    shape, axes = tuple(result.shape), get_args(promise)[1]
    if shape != tuple(EXTENTS[axis] for axis in axes.split()):
        raise BrokenContract(
            f"{call.method} gave the shape {shape}, must be {axes} = {tuple(EXTENTS[a] for a in axes.split())}"
        )
    if dtype is not None and result.dtype not in (dtype, torch.bool):
        raise BrokenContract(f"{call.method} gave {result.dtype} for inputs of {dtype}")


def sends_gradient(registry: Registry[Any], name: str) -> None:
    """A finite gradient reaches every parameter and every input that the part does not declare ignored."""
    part = make(registry, name)
    if isinstance(part, Nothing) or not isinstance(part, nn.Module):
        return
    read: dict[str, Tensor] = {}
    for call in calls(registry):
        arguments = call.arguments()
        results = [r for r in call.on(part, arguments) if isinstance(r, Tensor) and r.requires_grad]
        if results:
            torch.stack([result.square().sum() for result in results]).sum().backward()
        if call.method == "__call__":
            read |= {name: arguments[name] for name in call.axes if name not in getattr(part, "ignores", ())}
    for what, tensor in {**dict(part.named_parameters()), **read}.items():
        if tensor.grad is None or not bool(tensor.grad.isfinite().all()):
            raise BrokenContract(f"{what} gets {'no' if tensor.grad is None else 'a non-finite'} gradient")


def heeds_the_init(registry: Registry[Any], name: str) -> None:
    """Every weight that starts at random starts otherwise under another init."""
    part = make(registry, name)
    if not isinstance(part, nn.Module):
        return

    def drawn(seed: int, init: str) -> dict[str, Tensor]:
        draw(part, seed, inits[init](SIZES.depth))
        return {weight: value.detach().clone() for weight, value in part.named_parameters()}

    one, other_seed, other_init = drawn(0, "fan_in"), drawn(1, "fan_in"), drawn(0, "gpt2")
    for weight, value in one.items():
        if torch.equal(value, other_init[weight]) and not torch.equal(value, other_seed[weight]):
            raise BrokenContract(
                f"the init does not reach {weight}, which starts the same whatever init is chosen: make it the weight "
                "of a components.linear.Linear, or give its module a method `draw(deviations, generator)`"
            )


def repeats_itself(registry: Registry[Any], name: str) -> None:
    """Two calls agree, and so does a copy with the same state; the state holds parameters only."""
    part, copy = make(registry, name), make(registry, name)
    if not isinstance(part, nn.Module):
        return
    if extra := set(part.state_dict()) - {n for n, _ in part.named_parameters(remove_duplicate=False)}:
        raise BrokenContract(f"it saves {sorted(extra)}, which are no parameters: a model must load at another context")
    copy.load_state_dict(part.state_dict())
    for call in calls(registry):
        first, *others = (call.on(p, call.arguments()) for p in (part, part, copy))
        if not all(_equal(first, other) for other in others):
            raise BrokenContract(f"{call.method} gave two different results for the same input and weights")


def compiles(registry: Registry[Any], name: str) -> None:
    """torch.compile leaves every result as it is, bit for bit (`aot_eager`, which changes no arithmetic)."""
    part = make(registry, name)
    if not isinstance(part, nn.Module):
        return
    for call in calls(registry):
        torch.compiler.reset()
        compiled = torch.compile(call.of(part), backend="aot_eager")
        if not _equal(call.on(part, call.arguments()), tupled(compiled(*call.arguments().values()))):
            raise BrokenContract(f"{call.method} gives other results under torch.compile")


def _equal(first: tuple[Any, ...], second: tuple[Any, ...]) -> bool:
    return all(torch.equal(a, b) if isinstance(a, Tensor) else a == b for a, b in zip(first, second, strict=True))


CHECKS: tuple[Callable[[Registry[Any], str], None], ...] = (
    states_its_formula, has_plain_knobs, keeps_shape_and_type, sends_gradient, heeds_the_init,
    repeats_itself, compiles, sees_no_future, feels_no_future, explains_itself, goes_on,
)  # fmt: skip
