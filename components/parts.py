"""The parts and the numbers that a model is assembled from."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from components.registry import kinds


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """The numbers of a model.

    Raises ValueError if they fit no model: each is at least 1 and heads divide the width.
    """

    vocabulary: int
    context: int
    width: int
    depth: int
    heads: int

    def __post_init__(self) -> None:
        for name, number in vars(self).items():
            if number < 1:
                raise ValueError(f"{name}={number}: must be at least 1")
        if self.width % self.heads:
            fitting = ", ".join(str(n) for n in range(1, self.width + 1) if self.width % n == 0)
            raise ValueError(f"heads={self.heads} does not divide width={self.width}; heads that do: {fitting}")

    @property
    def head_width(self) -> int:
        """K = D / H."""
        return self.width // self.heads


class Parts:
    """The configured part of each kind, by the kind's name; remembers which kinds were asked for.

    A kind that no built module asked for has no effect on the model: without norms, which norm is
    chosen does not matter.
    """

    def __init__(self, config: Mapping[str, Any]) -> None:
        self._factories = {kind: registry.build(config[kind]) for kind, registry in kinds("components").items()}
        self.asked: set[str] = set()

    def __getitem__(self, kind: str) -> Callable[..., Any]:
        self.asked.add(kind)
        return self._factories[kind]
