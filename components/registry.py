"""Find parts by name.  A part's signature is its whole declaration.

Positional parameters are *wiring*: the model supplies them (widths, depth).
Keyword-only parameters are *knobs*: the experimenter sets them, and `schema` makes a typed
configuration of them.  So no knob is ever written down twice.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import field, make_dataclass
from enum import Enum, StrEnum
from functools import cache, partial
from typing import Any, Generic, TypeVar, get_origin, get_type_hints

from components.domains import declared, refuse_all, unknown

Part = TypeVar("Part")
Factory = TypeVar("Factory", bound=Callable[..., Any])


class Registry(Generic[Part]):
    """The parts of one kind; fills itself from the files beside the kind's contract.

    The kind's name is the folder's name.  The contract is a class whose `__init__` states the
    wiring and whose `__call__` states the shapes.  `roles` are further places in a model that take
    parts of this kind, each an option of its own.
    """

    def __init__(self, contract: type, roles: tuple[str, ...] = ()) -> None:
        self.contract = contract
        self.roles = roles
        self.kind = contract.__module__.rpartition(".")[2]
        self.wiring = _positional(contract)
        self._parts: dict[str, Callable[..., Part]] = {}
        self._filled = False

    def register(self, name: str) -> Callable[[Factory], Factory]:
        """Enter a class or function under `name`.

        Raises TypeError if its wiring is not the contract's, ValueError if another part has the name.
        """

        def enter(part: Factory) -> Factory:
            if (found := _positional(part)) != self.wiring:
                raise TypeError(
                    f"{self.kind}={name} ({origin(part)}): its positional parameters are {_listed(found)}, "
                    f"the contract of {self.kind} says {_listed(self.wiring)}; knobs go behind a `*`"
                )
            if name in self._parts and origin(self._parts[name]) != origin(part):
                raise ValueError(
                    f"{self.kind}={name} is registered twice: in {origin(self._parts[name])} "
                    f"and in {origin(part)}; rename one"
                )
            self._parts[name] = part
            return part

        return enter

    def names(self) -> tuple[str, ...]:
        """Every name, sorted; the first call imports the files of the kind's folder."""
        if not self._filled:
            self._filled = True
            package = importlib.import_module(self.contract.__module__)
            for module in pkgutil.iter_modules(package.__path__):
                importlib.import_module(f"{package.__name__}.{module.name}")
        return tuple(sorted(self._parts))

    def __getitem__(self, name: str) -> Callable[..., Part]:
        """The part called `name`; a KeyError names the nearest one and all others."""
        if name not in (names := self.names()):
            raise KeyError(unknown(self.kind, name, names))
        return self._parts[name]

    def knobs(self, name: str) -> dict[str, tuple[Any, Any]]:
        """Each knob's type and default, in order; `inspect.Parameter.empty` where it must be given."""
        return _knobs(self[name])

    def domains(self, name: str) -> dict[str, Any]:
        """Each knob's annotation, with the limits that its values keep (`components.domains`)."""
        hints = declared(_signed(self[name]))
        return {knob: hints[knob] for knob in self.knobs(name)}

    def schema(self, name: str) -> type:
        """A dataclass of the part's knobs; its `name` can take no other value."""
        only: Any = StrEnum(self.kind, {name: name})
        fields = [
            (knob, hint, field(default="???" if default is inspect.Parameter.empty else default))
            for knob, (hint, default) in self.knobs(name).items()
        ]
        return make_dataclass(f"{name}_{self.kind}", [("name", only, field(default=only(name))), *fields])

    def refuse(self, config: Mapping[str, Any], place: str = "") -> None:
        """Raises ValueError for a knob that the configured part does not have, and for a value outside its domain.

        `place` is where the part stands in a whole configuration, by default under its kind.
        """
        place = place or self.kind
        if not isinstance(config, Mapping) or "name" not in config:
            raise ValueError(f"{place}={config}: must be {{name: PART}}, the part one of {', '.join(self.names())}")
        name = str(config["name"])
        knobs = {str(key): value for key, value in config.items() if key != "name"}
        refuse_all(place if place.endswith(f".{name}") else f"{place}={name}", place, knobs, self.domains(name))

    def build(self, config: Mapping[str, Any], place: str = "") -> Callable[..., Part]:
        """The configured factory; call it with the wiring, as often as parts are needed.

        Raises ValueError as `refuse` does.
        """
        self.refuse(config, place)
        name = str(config["name"])
        types = {knob: hint for knob, (hint, _) in self.knobs(name).items()}
        knobs = {str(knob): _converted(value, types[knob]) for knob, value in config.items() if knob != "name"}
        return partial(self[name], **knobs)


def kinds(package: str) -> dict[str, Registry[Any]]:
    """The registry of every kind in a package: one for each folder that holds a contract.

    >>> sorted(kinds("components"))[:3]
    ['attention', 'block', 'ffn']
    """
    found: dict[str, Registry[Any]] = {}
    for folder in pkgutil.iter_modules(importlib.import_module(package).__path__):
        if folder.ispkg:
            module = importlib.import_module(f"{package}.{folder.name}")
            own = (
                value for value in vars(module).values() if isinstance(value, Registry) and value.kind == folder.name
            )
            found |= {registry.kind: registry for registry in own}
    return found


def options(package: str) -> dict[str, Registry[Any]]:
    """The registry behind every option: each kind, and each role that parts of a kind can play.

    >>> options("components")["qk_norm"] is kinds("components")["norm"]
    True
    """
    found = kinds(package)
    return found | {role: registry for registry in found.values() for role in registry.roles}


def origin(part: Callable[..., Any]) -> str:
    """Where a part was written: file and name."""
    return f"{inspect.getsourcefile(part)}:{part.__qualname__}"


@cache
def _knobs(part: Callable[..., Any]) -> dict[str, tuple[Any, Any]]:
    hints = get_type_hints(_signed(part))
    return {p.name: (hints[p.name], p.default) for p in _parameters(part) if p.kind is p.KEYWORD_ONLY}


def _signed(part: Callable[..., Any]) -> Callable[..., Any]:
    """What carries a part's signature."""
    return part.__init__ if inspect.isclass(part) else part


def _converted(value: Any, hint: Any) -> Any:
    """A value as the part expects it: of a list the tuple, of an Enum's word the member."""
    if get_origin(hint) is tuple:
        return tuple(value)
    return hint[value] if inspect.isclass(hint) and issubclass(hint, Enum) and isinstance(value, str) else value


def _parameters(part: Callable[..., Any]) -> list[inspect.Parameter]:
    return list(inspect.signature(part).parameters.values())


def _positional(part: Callable[..., Any]) -> tuple[str, ...]:
    return tuple(p.name for p in _parameters(part) if p.kind is p.POSITIONAL_OR_KEYWORD)


def _listed(names: tuple[str, ...]) -> str:
    return f"({', '.join(names)})"
