"""Parts at small sizes, and arguments for them, made from what their kinds' contracts say."""

import inspect
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import torch
from torch import Tensor, nn

from components.initialise import draw
from components.linear import Embedding, Linear
from components.parts import Parts, Sizes
from components.registry import Registry, kinds
from components.sublayer import Stage, Sublayer

EXTENTS = {"B": 2, "T": 5, "S": 5, "H": 3, "D": 12, "K": 4, "V": 7, "W": 12, "...": 2, "1": 1}
SIZES = Sizes(vocabulary=7, context=5, width=12, depth=2, heads=3)
COMPANIONS = {
    "norm": "layernorm", "qk_norm": "none", "placement": "pre", "block": "sequential", "residual": "add",
    "mixer": "attention", "projection": "separate", "attention": "softmax", "scale": "sqrt",
    "mask": "causal", "position": "none", "ffn": "gelu", "init": "fan_in", "readout": "untied",
}  # fmt: skip


def companions() -> Parts:
    """The plain parts that a part under test works with."""
    return Parts({kind: {"name": name} for kind, name in COMPANIONS.items()})


class _Mixing(Linear):
    """A causal stand-in for a mixer, which ignores positions."""

    def forward(self, input: Tensor, *more: nn.Module) -> Tensor:
        return super().forward(input.cumsum(-2))


def _sublayer(branch: type[Linear]) -> Stage:
    placement, residual = companions()["placement"](), companions()["residual"](SIZES.width, SIZES.depth)
    return Sublayer(branch(SIZES.width, SIZES.width), lambda: nn.LayerNorm(SIZES.width), placement, residual)


WIRING: dict[str, Callable[[], Any]] = {
    "width": lambda: SIZES.width, "depth": lambda: SIZES.depth, "head_width": lambda: SIZES.head_width,
    "sizes": lambda: SIZES, "parts": companions, "query_gain": lambda: 1.0,
    "mixer": lambda: _sublayer(_Mixing), "ffn": lambda: _sublayer(Linear),
    "embedding": lambda: Embedding(SIZES.vocabulary, SIZES.width),
}  # fmt: skip


@dataclass(frozen=True)
class Call:
    """One method that a contract declares, with the shape of each argument and of the result."""

    method: str
    hints: dict[str, Any]

    def arguments(self, dtype: torch.dtype = torch.float32) -> dict[str, Any]:
        """Random tensors of the declared shapes; the plainest value for anything else."""
        generator = torch.Generator().manual_seed(0)
        return {name: _value(name, hint, dtype, generator) for name, hint in self.hints.items() if name != "return"}

    @property
    def axes(self) -> dict[str, list[str]]:
        """The shape of each tensor that is given, by argument."""
        return {name: axes for name, hint in self.hints.items() if name != "return" and (axes := axes_of(hint))}

    @property
    def promises(self) -> tuple[Any, ...]:
        """What each result is declared to be; of what may also be None, what it is otherwise."""
        hint = self.hints["return"]
        each = get_args(hint) if get_origin(hint) is tuple else (hint,)
        return tuple(get_args(h)[0] if get_origin(h) in (Union, types.UnionType) else h for h in each)

    def of(self, part: Any) -> Callable[..., Any]:
        """The part's own method."""
        return part if self.method == "__call__" else getattr(part, self.method)

    def on(self, part: Any, arguments: dict[str, Any]) -> tuple[Any, ...]:
        """The results as a tuple."""
        return tupled(self.of(part)(*arguments.values()))


def tupled(result: Any) -> tuple[Any, ...]:
    """Several results as they are, a single one as a tuple of it."""
    return result if isinstance(result, tuple) else (result,)


def axes_of(hint: Any) -> list[str]:
    """The letters of an annotated tensor's shape; none for anything else.

    >>> axes_of(Annotated[Tensor, "B T D"]), axes_of(int)
    (['B', 'T', 'D'], [])
    """
    return get_args(hint)[1].split() if get_origin(hint) is Annotated else []


def _value(name: str, hint: Any, dtype: torch.dtype, generator: torch.Generator) -> Any:
    if get_origin(hint) in (Union, types.UnionType):
        return None
    if get_origin(hint) is Annotated:
        return torch.randn([EXTENTS[axis] for axis in axes_of(hint)], generator=generator).to(dtype).requires_grad_()
    if hint is torch.device:
        return torch.device("cpu")
    return EXTENTS["T"] if hint is int else companions()[name](SIZES)


def calls(registry: Registry[Any]) -> list[Call]:
    """Every method of the kind's contract that states what it returns."""
    methods = {name: method for name, method in vars(registry.contract).items() if inspect.isfunction(method)}
    public = (name for name in methods if name == "__call__" or not name.startswith("_"))
    hints = {name: get_type_hints(methods[name], include_extras=True) for name in public}
    return [Call(name, hint) for name, hint in hints.items() if "return" in hint]


def make(registry: Registry[Any], name: str) -> Any:
    """The part, built at the contracts' sizes with drawn weights."""
    part = registry[name](*(WIRING[wire]() for wire in registry.wiring))
    if isinstance(part, nn.Module):
        draw(part, 0, companions()["init"](SIZES.depth))
    return part


def parts() -> Iterator[tuple[Registry[Any], str]]:
    """Every registered part of every kind."""
    for registry in kinds("components").values():
        for name in registry.names():
            yield registry, name
