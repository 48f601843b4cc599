"""Measures that a trial has of every layer."""

import re
from dataclasses import replace

import pandas as pd

from analysis.reduction import reducer
from analysis.results import Results

FAMILIES = ("gradient_norm", "update_ratio", "stream/rms", "stream/rank", "attention/entropy", "attention/saturation")


def families(results: Results) -> list[str]:
    """Those of `FAMILIES` that were measured in more than one layer."""
    layers = [found for name in results.measures.index if (found := re.fullmatch(r"(.+)/layers\.(\d+)", name))]
    counts = pd.Series([found[1] for found in layers], dtype=str).value_counts()
    return [family for family in FAMILIES if counts.get(family, 0) > 1]


def profiles(results: Results) -> dict[str, pd.DataFrame]:
    """For each family, arms by layers: a trial's value reduced over steps as declared, in the mean over seeds.

    Families of which no finished trial has a number are left out.
    """
    names = {family: _layers(results, family) for family in families(results)}
    finished = results.trials[results.trials.status == "finished"]  # no mean has a diverged one
    history = replace(results, trials=finished).recorded(*(name for own in names.values() for name in own))
    found = {family: _profile(results, history, own) for family, own in names.items()}
    return {family: profile for family, profile in found.items() if profile.notna().any(axis=None)}


def _layers(results: Results, family: str) -> list[str]:
    found = [name for name in results.measures.index if re.fullmatch(rf"{re.escape(family)}/layers\.\d+", name)]
    return sorted(found, key=_number)


def _number(name: str) -> int:
    return int(name.rpartition(".")[2])


def _profile(results: Results, history: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    columns = {}
    for name in names:
        trials = history[["arm", "seed", name]].dropna().groupby(["arm", "seed"], sort=False)[name]
        reduced = trials.agg(reducer(results.measures.reduction[name]))
        columns[_number(name)] = reduced.groupby("arm").mean()
    return pd.DataFrame(columns, dtype=float).reindex(results.arms)
