"""Values outside a domain, and one inside it, derived from an annotation without the code under test."""

import math
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from annotated_types import Ge, GroupedMetadata, Gt, Le, Lt, MinLen

from components.domains import Distinct, OneOf, OrInfinite, worded

WORD = "surely-no-choice"


def outside(hint: Any) -> list[Any]:
    """Wrong types, just below and just above the bounds, 0 and -1 where these are below, what is not finite."""
    base, metadata = _split(hint)
    if get_origin(base) in (Union, UnionType):
        return [value for value in outside(get_args(base)[0]) if value is not None]
    if get_origin(base) is tuple:
        return _lists(base, metadata)
    if base in (int, float):
        return [WORD, True, None, [1], *_numbers(base, metadata)]
    if base is str:
        return [5, None, *([WORD] if any(isinstance(each, OneOf) for each in metadata) else [])]
    return {bool: [WORD, 1, None, 0.5], Path: [5, None]}.get(base, [WORD, 5, None])


def is_a_sentence(text: str, setting: str, hint: Any) -> bool:
    """Whether an error names the setting, the value and the domain, in one line."""
    return "\n" not in text and text.startswith(f"{setting}=") and f": must be {worded(hint)}" in text


def inside(hint: Any) -> Any:
    """A value that the annotation admits."""
    base, metadata = _split(hint)
    if get_origin(base) in (Union, UnionType):
        return inside(get_args(base)[0])
    if get_origin(base) is tuple:
        return [inside(each) for each in get_args(base) if each is not Ellipsis]
    if base in (int, float):
        low, high = _low(metadata), _high(metadata)
        return base((low + high) / 2 if math.isfinite(low + high) else max(low, -3) + 1)
    words = [word for each in metadata if isinstance(each, OneOf) for word in each.words]
    return words[0] if words else {bool: True, Path: Path("a"), str: "a"}.get(base) or next(iter(base.__members__))


def _numbers(base: type, metadata: list[Any]) -> list[Any]:
    low, high = _low(metadata), _high(metadata)
    beyond = [math.nan, *([] if OrInfinite() in metadata else [math.inf]), -math.inf]
    step = 1 if base is int else None
    bounds = {type(each): each for each in metadata}
    if low > -math.inf:
        beyond += [low] if Gt in bounds else []
        beyond += [low - step if step else math.nextafter(low, -math.inf)]
        beyond += [value for value in (0, -1) if value < low and value not in beyond]
    if high < math.inf:
        beyond += [high] if Lt in bounds else []
        beyond += [high + step if step else math.nextafter(high, math.inf)]
    return [*beyond, *([max(low, 0) + 0.5] if base is int else [])]


def _lists(base: Any, metadata: list[Any]) -> list[Any]:
    elements = [each for each in get_args(base) if each is not Ellipsis]
    right = [inside(each) for each in elements]
    wrong = [[value, *right[1:]] for value in outside(elements[0])]
    if Ellipsis not in get_args(base):
        wrong += [right[:-1], [*right, right[-1]]]
    wrong += [[]] if any(isinstance(each, MinLen) for each in metadata) else []
    wrong += [[*right, *right]] if Distinct() in metadata else []
    return [WORD, None, right[0], *wrong]


def _split(hint: Any) -> tuple[Any, list[Any]]:
    base, *metadata = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    return base, [each for one in metadata for each in (one if isinstance(one, GroupedMetadata) else [one])]


def _low(metadata: list[Any]) -> Any:
    ends: list[Any] = [each.gt if isinstance(each, Gt) else each.ge for each in metadata if isinstance(each, Gt | Ge)]
    return max(ends, default=-math.inf)


def _high(metadata: list[Any]) -> Any:
    ends: list[Any] = [each.lt if isinstance(each, Lt) else each.le for each in metadata if isinstance(each, Lt | Le)]
    return min(ends, default=math.inf)
