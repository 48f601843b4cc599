"""Find parts by name.  A part's signature is its whole declaration.

Positional parameters are *wiring*: the model supplies them (widths, depth).
Keyword-only parameters are *knobs*: the experimenter sets them, and `schema` makes a typed
configuration of them.  So no knob is ever written down twice.
"""

from __future__ import annotations

import difflib
import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, make_dataclass
from enum import StrEnum
from functools import cache, partial
from typing import Any, Generic, TypeVar, get_args, get_origin, get_type_hints

MANY, NEAREST = 40, 8  # words that are all shown; how many are where there are more
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

    def schema(self, name: str) -> type:
        """A dataclass of the part's knobs; its `name` can take no other value."""
        only: Any = StrEnum(self.kind, {name: name})
        fields = [
            (knob, hint, field(default="???" if default is inspect.Parameter.empty else default))
            for knob, (hint, default) in self.knobs(name).items()
        ]
        return make_dataclass(f"{name}_{self.kind}", [("name", only, field(default=only(name))), *fields])

    def build(self, config: Mapping[str, Any]) -> Callable[..., Part]:
        """The configured factory; call it with the wiring, as often as parts are needed.

        Raises ValueError if a knob that is a tuple was given another number of values.
        """
        name = str(config["name"])
        types = self.knobs(name)
        knobs = {str(key): self._value(str(key), value, types) for key, value in config.items() if key != "name"}
        return partial(self[name], **knobs)

    def _value(self, knob: str, value: Any, types: Mapping[str, tuple[Any, Any]]) -> Any:
        """A knob's value as the part expects it: a list becomes the tuple its annotation declares."""
        hint = types[knob][0] if knob in types else None
        if get_origin(hint) is not tuple:
            return value
        if get_args(hint)[-1] is not Ellipsis and len(value) != len(get_args(hint)):
            raise ValueError(f"{self.kind}.{knob} takes {len(get_args(hint))} values, was given {list(value)}")
        return tuple(value)


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


def unknown(what: str, word: str, known: Iterable[str]) -> str:
    """A sentence for a word that nothing is called: the nearest one, and all there are, or of very many the nearest.

    >>> unknown("norm", "rmsnrom", ["layernorm", "rmsnorm"])
    "there is no norm 'rmsnrom' (did you mean 'rmsnorm'?); there are: layernorm, rmsnorm"
    """
    names = list(known)
    near = difflib.get_close_matches(word, names, n=1)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    size = f" {len(names)}, such as" * (len(names) > MANY)
    shown = difflib.get_close_matches(word, names, n=NEAREST, cutoff=0.0) if size else names
    return f"there is no {what} {word!r}{hint}; there are{size}: {', '.join(shown) or 'none'}"


def origin(part: Callable[..., Any]) -> str:
    """Where a part was written: file and name."""
    return f"{inspect.getsourcefile(part)}:{part.__qualname__}"


@cache
def _knobs(part: Callable[..., Any]) -> dict[str, tuple[Any, Any]]:
    hints = get_type_hints(part.__init__ if inspect.isclass(part) else part)
    return {p.name: (hints[p.name], p.default) for p in _parameters(part) if p.kind is p.KEYWORD_ONLY}


def _parameters(part: Callable[..., Any]) -> list[inspect.Parameter]:
    return list(inspect.signature(part).parameters.values())


def _positional(part: Callable[..., Any]) -> tuple[str, ...]:
    return tuple(p.name for p in _parameters(part) if p.kind is p.POSITIONAL_OR_KEYWORD)


def _listed(names: tuple[str, ...]) -> str:
    return f"({', '.join(names)})"
