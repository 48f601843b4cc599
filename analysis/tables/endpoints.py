"""Reductions, from a curve to the number that a study compares, and the declarations that a study can make."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

import pandas as pd

from analysis.record.words import unknown_word

DIRECTIONS = ("lower", "higher", "same")  # the expectations that a study can have of an endpoint


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
        raise ValueError(unknown_word("reduction", name, REDUCTIONS))
    return REDUCTIONS[name]


def refuse_unknown_names(
    endpoints: Mapping[str, str],
    margin: Mapping[str, float],
    expect: Mapping[str, Mapping[str, str]],
    measures: Collection[str],
    arms: Collection[str],
) -> None:
    """Raises ValueError for an endpoint that nothing measures, or an expectation of an arm that does not exist."""
    for arm, directions in expect.items():
        if not isinstance(directions, Mapping):
            raise ValueError(f"expect {arm}: say of which endpoint: {{{arm}: {{ENDPOINT: {directions}}}}}")
    expected = [endpoint for directions in expect.values() for endpoint in directions]
    for name in (*endpoints, *margin, *expected):
        if name not in measures:
            raise ValueError(f"endpoints, margin and expect name measures: {unknown_word('measure', name, measures)}")
    for reduction in endpoints.values():
        reducer(reduction)
    for name, size in margin.items():
        if not size > 0:
            raise ValueError(f"the margin of {name} must be more than 0, was given {size}")
    for arm, directions in expect.items():
        if arm not in arms:
            raise ValueError(f"the study's expectations: {unknown_word('arm', arm, arms)}")
        for endpoint, direction in directions.items():
            if direction not in DIRECTIONS:
                raise ValueError(f"{arm}, {endpoint}: {unknown_word('expectation', direction, DIRECTIONS)}")
            if direction == "same" and endpoint not in margin:
                raise ValueError(f"to expect {endpoint} to be the same, say within what: margin: {{{endpoint}: 0.02}}")
