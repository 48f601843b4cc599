"""The values that make sense for a setting: declared in its annotation, refused outside it, shown in tables.

`eps: Positive = 1e-5` says float > 0, `dropout: Probability = 0.0` says 0 ≤ float < 1. Limits are those of
`annotated_types` and of this module; other metadata is ignored. A float is finite unless `OrInfinite` is declared.
"""

import difflib
import math
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cache
from numbers import Integral, Real
from os import PathLike
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, NamedTuple, Union, get_args, get_origin, get_type_hints

from annotated_types import BaseMetadata, Ge, GroupedMetadata, Gt, Interval, Le, Lt, MaxLen, MinLen, MultipleOf

MANY, NEAREST = 40, 8  # words that are all shown; how many are where there are more


@dataclass(frozen=True)
class OneOf(BaseMetadata):
    """Text is one of these words."""

    words: tuple[str, ...]


@dataclass(frozen=True)
class Distinct(BaseMetadata):
    """The values of a list are all different."""


@dataclass(frozen=True)
class Finite(BaseMetadata):
    """A float is neither infinite nor NaN; every float is limited so unless `OrInfinite` is declared."""


@dataclass(frozen=True)
class OrInfinite(BaseMetadata):
    """A float may be infinite, but not NaN."""


Positive = Annotated[float, Gt(0)]
NonNegative = Annotated[float, Ge(0)]
Share = Annotated[float, Interval(ge=0, le=1)]
Probability = Annotated[float, Interval(ge=0, lt=1)]
PositiveShare = Annotated[float, Interval(gt=0, le=1)]
ProperShare = Annotated[float, Interval(gt=0, lt=1)]
Index = Annotated[int, Ge(0)]
Count = Annotated[int, Ge(1)]
Several = Annotated[int, Ge(2)]
Seed = Annotated[int, Interval(ge=0, le=2**63 - 1)]  # what a table's 64-bit integers can hold


class Type(NamedTuple):
    """How a value of a type is recognised, and the words for such a value."""

    holds: Callable[[Any], bool]
    words: str


class Limit(NamedTuple):
    """How a value is compared with a limit, and formats for it: in words, as a sign, and as a sign left of x."""

    holds: Callable[[Any, Any], bool]
    words: str = ""
    sign: str = ""
    left: str = ""


TYPES: dict[Any, Type] = {
    Any: Type(lambda value: True, "anything"),
    bool: Type(lambda value: isinstance(value, bool), "true or false"),
    int: Type(lambda value: isinstance(value, Integral) and not isinstance(value, bool), "a whole number"),
    float: Type(lambda value: isinstance(value, Real) and not isinstance(value, bool), "a number"),
    str: Type(lambda value: isinstance(value, str), "text"),
    Path: Type(lambda value: isinstance(value, str | PathLike), "a path"),
    NoneType: Type(lambda value: value is None, "null"),
}
LIMITS: dict[type, Limit] = {
    Gt: Limit(lambda value, limit: value > limit.gt, "above {0.gt}", "> {0.gt}", "{0.gt} < x"),
    Ge: Limit(lambda value, limit: value >= limit.ge, "of at least {0.ge}", "≥ {0.ge}", "{0.ge} ≤ x"),
    Lt: Limit(lambda value, limit: value < limit.lt, "below {0.lt}", "< {0.lt}"),
    Le: Limit(lambda value, limit: value <= limit.le, "of at most {0.le}", "≤ {0.le}"),
    MultipleOf: Limit(lambda value, limit: value % limit.multiple_of == 0, "divisible by {0.multiple_of}"),
    MinLen: Limit(lambda value, limit: len(value) >= limit.min_length, "at least {0.min_length} of them"),
    MaxLen: Limit(lambda value, limit: len(value) <= limit.max_length, "at most {0.max_length} of them"),
    OneOf: Limit(lambda value, limit: value in limit.words),
    Distinct: Limit(lambda value, limit: len({*map(repr, value)}) == len(value), "all different"),
    Finite: Limit(lambda value, limit: abs(value) <= sys.float_info.max),
    OrInfinite: Limit(lambda value, limit: not math.isnan(value)),
}


def refuse(setting: str, value: Any, hint: Any) -> None:
    """Raises ValueError for a value that an annotation does not admit, naming setting, value and domain.

    >>> refuse("optimizer.lr", float("inf"), Positive)
    Traceback (most recent call last):
    ValueError: optimizer.lr=inf: must be a finite number above 0
    """
    base, _ = taken_apart(hint)
    if get_origin(base) is dict and isinstance(value, Mapping):
        for name, each in value.items():
            refuse(f"{setting}.{name}", each, get_args(base)[1])
    elif not admits(hint, value):
        raise ValueError(f"{setting}={_typed(value)}: must be {worded(hint)}{nearest(str(value), choices(hint))}")


def refuse_all(holder: str, place: str, values: Mapping[str, Any], hints: Mapping[str, Any]) -> None:
    """Raises ValueError for a setting that no annotation declares, and for a value that its own does not admit.

    `holder` is what the settings belong to, `place` what their full names begin with.
    """
    for name, value in values.items():
        if name not in hints:
            raise ValueError(f"{holder}: {unknown('setting', name, hints)}")
        refuse(f"{place}.{name}" if place else name, value, hints[name])


def admits(hint: Any, value: Any) -> bool:
    """Whether a value has an annotation's type and keeps its limits.

    >>> admits(Positive | None, None), admits(Count, True), admits(tuple[Share, ...], [0, 0.5, 2])
    (True, False, False)
    """
    base, limits = taken_apart(hint)
    return _has_type(base, value) and all(LIMITS[kind].holds(value, limit) for kind, limit in limits.items())


def _has_type(base: Any, value: Any) -> bool:
    origin, arguments = get_origin(base), get_args(base)
    if origin in (Union, UnionType):
        return any(admits(each, value) for each in arguments)
    if origin in (tuple, list):
        return isinstance(value, list | tuple) and _has_elements(base, value)
    if origin is dict:
        return isinstance(value, Mapping) and all(admits(arguments[1], each) for each in value.values())
    if base in TYPES:
        return TYPES[base].holds(value)
    if isinstance(base, type) and issubclass(base, Enum):
        return isinstance(value, base) or value in choices(base)
    return not isinstance(base, type) or isinstance(value, base)


def _has_elements(base: Any, values: list[Any] | tuple[Any, ...]) -> bool:
    each = list(get_args(base)) if _has_length(base) else [get_args(base)[0]] * len(values)
    return len(each) == len(values) and all(map(admits, each, values))


def _has_length(base: Any) -> bool:
    """Whether a list's type says how many values it has."""
    return get_origin(base) is tuple and Ellipsis not in get_args(base)


def worded(hint: Any) -> str:
    """What an annotation admits, in words that follow "must be".

    >>> worded(Share | None), worded(Probability)
    ('a number from 0 to 1, or null', 'a number of at least 0 and below 1')
    >>> worded(tuple[Count, Count])
    '2 values, each a whole number of at least 1'
    """
    base, limits = taken_apart(hint)
    origin, arguments = get_origin(base), get_args(base)
    if origin in (Union, UnionType):
        return ", or ".join(worded(each) for each in arguments)
    if words := choices(hint):
        return f"{', '.join(words[:-1])} or {words[-1]}" if words[1:] else words[0]
    if origin is dict:
        return f"NAME: VALUE, each value {worded(arguments[1])}"
    if origin in (tuple, list):
        size = f"{len(arguments)} values" if _has_length(base) else "a list of values"
        elements = dict.fromkeys(worded(each) for each in arguments if each is not Ellipsis)
        return ", ".join([size, *_limits_worded(limits), f"each {' and then '.join(elements)}"])
    noun = TYPES[base].words if base in TYPES else f"a {getattr(base, '__name__', base)}"
    if Finite in limits and not ({Gt, Ge} & limits.keys() and {Lt, Le} & limits.keys()):
        noun = "a finite number"
    return " ".join(filter(None, [noun, " and ".join(_limits_worded(limits))]))


def _limits_worded(limits: Mapping[type, Any]) -> list[str]:
    """The words for each limit that has any; two bounds that are values themselves are said as one."""
    both = limits.keys() >= {Ge, Le}
    ends = [f"from {limits[Ge].ge} to {limits[Le].le}"] if both else []
    others = (LIMITS[kind].words.format(limit) for kind, limit in limits.items() if not (both and kind in (Ge, Le)))
    return [*ends, *filter(None, others)]


def interval(hint: Any) -> str:
    """The bounds of a number as a formula; nothing if it has none.

    >>> interval(Positive), interval(Probability), interval(float)
    ('> 0', '0 ≤ x < 1', '')
    """
    _, limits = taken_apart(hint)
    low, high = (next((each for each in pair if each in limits), None) for pair in ((Gt, Ge), (Lt, Le)))
    if low and high:
        return f"{LIMITS[low].left.format(limits[low])} {LIMITS[high].sign.format(limits[high])}"
    end = low or high
    return LIMITS[end].sign.format(limits[end]) if end else ""


def notation(hint: Any) -> str:
    """An annotation as a formula: types, bounds, words to choose from.

    >>> [notation(hint) for hint in (Probability, Count | None, tuple[Share, ...], bool)]
    ['float (0 ≤ x < 1)', 'int (≥ 1) | None', 'tuple[float (0 ≤ x ≤ 1), ...]', 'bool']
    """
    base, _ = taken_apart(hint)
    if get_origin(base) in (Union, UnionType):
        return " | ".join(map(notation, get_args(base)))
    if get_origin(base):
        return f"{get_origin(base).__name__}[{', '.join(map(notation, get_args(base)))}]"
    if words := choices(hint):
        return " | ".join(words)
    name = {Ellipsis: "...", NoneType: "None"}.get(base) or getattr(base, "__name__", str(base))
    return f"{name} ({bounds})" if (bounds := interval(hint)) else name


@cache
def declared(holder: type | Callable[..., Any]) -> dict[str, Any]:
    """The annotations of a class's fields or of a function's parameters, with their limits."""
    return get_type_hints(holder, include_extras=True)


def taken_apart(hint: Any) -> tuple[Any, dict[type, Any]]:
    """An annotation's type, and the limits that its values keep: of each kind the last one.

    >>> taken_apart(Count)
    (<class 'int'>, {<class 'annotated_types.Ge'>: Ge(ge=1)})
    """
    base, *metadata = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    single = [each for one in metadata for each in (one if isinstance(one, GroupedMetadata) else [one])]
    limits: dict[type, Any] = {type(each): each for each in single if type(each) in LIMITS}
    if base is float and OrInfinite not in limits:
        limits[Finite] = Finite()
    return base, limits


def choices(hint: Any) -> list[str]:
    """The words that an annotation admits, if it admits nothing but words."""
    base, limits = taken_apart(hint)
    if isinstance(base, type) and issubclass(base, Enum):
        return list(base.__members__)
    return list(limits[OneOf].words) if OneOf in limits else []


def _typed(value: Any) -> str:
    """A value as it would be typed."""
    if isinstance(value, bool):
        return str(value).lower()
    return "null" if value is None else str(value)


def nearest(word: str, words: Iterable[str]) -> str:
    """A question after the word that was meant, if one is near.

    >>> nearest("inductro", ["none", "inductor"]), nearest("x", ["none"])
    (" (did you mean 'inductor'?)", '')
    """
    near = difflib.get_close_matches(word, list(words), n=1)
    return f" (did you mean {near[0]!r}?)" if near else ""


def unknown(what: str, word: str, known: Iterable[str]) -> str:
    """A sentence for a word that nothing is called: the nearest one, and all there are, or of very many the nearest.

    >>> unknown("norm", "rmsnrom", ["layernorm", "rmsnorm"])
    "there is no norm 'rmsnrom' (did you mean 'rmsnorm'?); there are: layernorm, rmsnorm"
    """
    names = list(known)
    size = f" {len(names)}, such as" if len(names) > MANY else ""
    shown = difflib.get_close_matches(word, names, n=NEAREST, cutoff=0.0) if size else names
    return f"there is no {what} {word!r}{nearest(word, names)}; there are{size}: {', '.join(shown) or 'none'}"
