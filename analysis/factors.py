"""What several factors do together: main effects and interactions of a factorial study."""

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from analysis.effect import holm, paired, shares
from analysis.results import Results

Levels = Mapping[str, str]


def factorial(results: Results) -> pd.DataFrame:
    """Main effects and two-way interactions on every endpoint: what `analysis.effect.paired` says of each.

    The main effect of a level is its difference to the factor's first level, in the mean over all settings of the
    others that have both. An interaction is how much the difference of one level changes with the other's:
    (ab − b) − (a − baseline). Of a fraction, in which no two arms differ in one factor only, a main effect is the mean
    of all arms with the level less that of all without, and mixed with what the fraction cannot tell apart from it.
    p is corrected over all rows of an endpoint. Empty for studies of one factor.
    """
    levels: dict[str, Levels] = {arm: said["levels"] for arm, said in results.study["arms"].items()}
    base = levels[results.arms[0]]
    if len(base) < 2 or any(set(own) != set(base) for own in levels.values()):
        return pd.DataFrame()
    made: list[dict[str, Any]] = []
    for measure, table in results.endpoints.items():
        rows = [*_mains(table, levels, base), *_interactions(table, levels, base)] or [*_contrasts(table, levels, base)]
        rows = [_exactly(row) for row in rows] if shares(table) else rows
        corrected = holm([row["p"] for row in rows])
        made += ({"endpoint": measure, **row, "p_holm": p} for row, p in zip(rows, corrected, strict=True))
    return pd.DataFrame(made)


def _exactly(row: dict[str, Any]) -> dict[str, Any]:
    """An effect on shares: no t-interval, which can reach beyond 1; tested exactly where there is such a test."""
    p = row["p"] if np.isnan(row["p_sign_flip"]) else row["p_sign_flip"]
    return row | {"low": np.nan, "high": np.nan, "p": p}


def _mains(table: pd.DataFrame, levels: Mapping[str, Levels], base: Levels) -> Iterable[dict[str, Any]]:
    arm_of = {tuple(sorted(own.items())): arm for arm, own in levels.items()}
    for factor, first in base.items():
        for level in dict.fromkeys(own[factor] for own in levels.values() if own[factor] != first):
            pairs = [
                (arm_of.get(tuple(sorted({**own, factor: first}.items()))), arm)
                for arm, own in levels.items()
                if own[factor] == level
            ]
            both = [(table[without], table[arm]) for without, arm in pairs if without is not None]
            if len(both) > 1:
                without, under = (
                    pd.concat(each, axis=1).mean(axis=1, skipna=False) for each in zip(*both, strict=True)
                )
                yield {
                    "effect of": f"{factor}={level}",
                    "kind": "main",
                    "settings": len(both),
                    **paired(without, under),
                }


def _contrasts(table: pd.DataFrame, levels: Mapping[str, Levels], base: Levels) -> Iterable[dict[str, Any]]:
    """Main effects of a fraction, in which no two arms differ in one factor: all arms with a level, less all without.

    Only of factors whose two levels have equally many arms under each level of every other one.
    """
    for factor, first in base.items():
        under = {a: own for a, own in levels.items() if own[factor] != first}
        without = {a: own for a, own in levels.items() if own[factor] == first}
        others = [other for other in base if other != factor]
        alike = (Counter((o, own[o]) for own in half.values() for o in others) for half in (under, without))
        if len({own[factor] for own in under.values()}) == 1 and next(alike) == next(alike):
            before, after = (table[list(half)].mean(axis=1, skipna=False) for half in (without, under))
            level = next(iter(under.values()))[factor]
            named = {"effect of": f"{factor}={level}", "kind": "main", "settings": len(under)}
            yield named | paired(before, after)


def _interactions(table: pd.DataFrame, levels: Mapping[str, Levels], base: Levels) -> Iterable[dict[str, Any]]:
    changed = {arm: {f: level for f, level in own.items() if level != base[f]} for arm, own in levels.items()}
    single = {next(iter(own.items())): arm for arm, own in changed.items() if len(own) == 1}
    double = {frozenset(own.items()): arm for arm, own in changed.items() if len(own) == 2}
    origin = next(arm for arm, own in changed.items() if not own)
    for first, second in combinations(single, 2):
        if (both := double.get(frozenset([first, second]))) is not None:
            alone, together = table[single[first]] - table[origin], table[both] - table[single[second]]
            named = " × ".join(f"{factor}={level}" for factor, level in (first, second))
            yield {"effect of": named, "kind": "interaction", "settings": 1, **paired(alone, together)}
