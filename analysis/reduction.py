"""From a curve to the number that a study compares."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # whoever only plans a study can do without
    import pandas as pd

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
    """A sentence for a word that nothing is called: the nearest one, and all there are."""
    names = list(known)
    near = difflib.get_close_matches(word, names, n=1)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    return f"there is no {what} {word!r}{hint}; there are: {', '.join(names) or 'none'}"
