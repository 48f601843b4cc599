"""From a curve to the number that a study compares, and what a study can ask for."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # whoever only plans a study can do without
    import pandas as pd

MANY, NEAREST = 40, 8  # words that are all shown; how many are where there are more
DIRECTIONS = ("lower", "higher", "same")  # what can be expected of an endpoint
REDUCTIONS: dict[str, Callable[[pd.Series], float]] = {
    "final": lambda values: values.iloc[-1],
    "mean": lambda values: values.mean(),
    "median": lambda values: values.median(),
    "min": lambda values: values.min(),
    "max": lambda values: values.max(),
    "any": lambda values: float(values.astype(bool).any()),
}


def reducer(name: str) -> Callable[[pd.Series], float]:
    """The reduction called `name`, of a curve in order of steps without missing values.

    >>> import pandas as pd
    >>> float(reducer("final")(pd.Series([3.0, 1.0, 2.0])))
    2.0
    >>> reducer("medain")
    Traceback (most recent call last):
        ...
    ValueError: there is no reduction 'medain' (did you mean 'median'?); there are: final, mean, median, min, max, any
    """
    if name not in REDUCTIONS:
        raise ValueError(unknown("reduction", name, REDUCTIONS))
    return REDUCTIONS[name]


def unknown(what: str, word: str, known: Iterable[str]) -> str:
    """A sentence for a word that nothing is called: the nearest one, and all there are, or of very many the nearest."""
    names = list(known)
    near = difflib.get_close_matches(word, names, n=1)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    size = f" {len(names)}, such as" * (len(names) > MANY)
    shown = difflib.get_close_matches(word, names, n=NEAREST, cutoff=0.0) if size else names
    return f"there is no {what} {word!r}{hint}; there are{size}: {', '.join(shown) or 'none'}"


def refuse_unknown(study: Mapping[str, Any], measured: Collection[str], arms: Collection[str]) -> None:
    """Raises ValueError for an endpoint that nothing measures, or an expectation of an arm that is not there."""
    for label, expected in study["expect"].items():
        if not isinstance(expected, Mapping):
            raise ValueError(f"expect {label}: say of which endpoint: {{{label}: {{ENDPOINT: {expected}}}}}")
    wished = [name for expected in study["expect"].values() for name in expected]
    for name in (*study["endpoints"], *study["margin"], *wished):
        if name not in measured:
            raise ValueError(f"endpoints, margin and expect name measures: {unknown('measure', name, measured)}")
    for reduction in study["endpoints"].values():
        reducer(reduction)
    for name, margin in study["margin"].items():
        if not margin > 0:
            raise ValueError(f"the margin of {name} must be more than 0, was given {margin}")
    for label, expected in study["expect"].items():
        if label not in arms:
            raise ValueError(f"the study's expectations: {unknown('arm', label, arms)}")
        for endpoint, direction in expected.items():
            if direction not in DIRECTIONS:
                raise ValueError(f"{label}, {endpoint}: {unknown('expectation', direction, DIRECTIONS)}")
            if direction == "same" and endpoint not in study["margin"]:
                raise ValueError(f"to expect {endpoint} to be the same, say within what: margin: {{{endpoint}: 0.02}}")
