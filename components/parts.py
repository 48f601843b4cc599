"""The parts and the numbers that a model is assembled from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from components.registry import options, unknown

MODEL_WIDE = ("position", "init", "readout")  # kinds of which a model has one, whatever its layers are


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """The numbers of a model. Where they are not given, heads share the width, and keys and values have as many heads.

    Raises ValueError if they fit no model: each is at least 1, heads divide the width unless their own width is
    given, and key/value heads divide heads.
    """

    vocabulary: int
    context: int
    width: int
    depth: int
    heads: int
    head_width: int = 0
    key_value_heads: int = 0
    dropout: float = 0.0

    def __post_init__(self) -> None:
        if not self.head_width:
            _refuse_indivisible("heads", self.heads, "width", self.width)
            object.__setattr__(self, "head_width", self.width // self.heads)
        if not self.key_value_heads:
            object.__setattr__(self, "key_value_heads", self.heads)
        _refuse_indivisible("key_value_heads", self.key_value_heads, "heads", self.heads)
        for name in ("vocabulary", "context", "width", "depth", "head_width"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name}={getattr(self, name)}: must be at least 1")
        if not 0 <= self.dropout < 1:
            raise ValueError(f"dropout={self.dropout}: must be at least 0 and below 1")


def _refuse_indivisible(name: str, divisor: int, whole_name: str, whole: int) -> None:
    if divisor < 1 or whole % divisor:
        fitting = ", ".join(str(n) for n in range(1, whole + 1) if whole % n == 0)
        raise ValueError(f"{name}={divisor} does not divide {whole_name}={whole}; {name} that do: {fitting}")


class Parts:
    """The configured part of each kind, by the kind's name; remembers which kinds were asked for.

    A kind that no built module asked for has no effect on the model: without norms, which norm is
    chosen does not matter. `layers` changes kinds in single layers: {3: {"ffn": {"name": "none"}}}.
    """

    def __init__(self, config: Mapping[str, Any], layers: Mapping[int, Mapping[str, Any]] | None = None) -> None:
        self._factories = {kind: registry.build(config[kind]) for kind, registry in options("components").items()}
        self._layers = {int(layer): _built(int(layer), changes) for layer, changes in (layers or {}).items()}
        self.asked: set[str] = set()

    def __getitem__(self, kind: str) -> Callable[..., Any]:
        self.asked.add(kind)
        return self._factories[kind]

    def layer(self, number: int) -> Parts:
        """The parts of one layer; what is asked of them counts as asked here too."""
        own = object.__new__(Parts)
        own._factories = self._factories | self._layers.get(number, {})
        own._layers, own.asked = {}, self.asked
        return own

    def refuse_layers_beyond(self, depth: int) -> None:
        """Raises ValueError if a change is meant for a layer that the model does not have."""
        for layer in self._layers:
            if not 0 <= layer < depth:
                raise ValueError(f"layers.{layer}: the model has layers 0 to {depth - 1} (model.depth={depth})")


def _built(layer: int, changes: Mapping[str, Any]) -> dict[str, Callable[..., Any]]:
    known = {kind: registry for kind, registry in options("components").items() if kind not in MODEL_WIDE}
    for kind in changes:
        if kind not in known:
            raise ValueError(f"layers.{layer}: {unknown('kind of which each layer has its own', kind, known)}")
    named = {kind: {"name": part} if isinstance(part, str) else part for kind, part in changes.items()}
    return {kind: known[kind].build(part) for kind, part in named.items()}
