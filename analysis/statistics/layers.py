"""Measures that a trial has of every layer."""

import re
from dataclasses import replace

import pandas as pd

from analysis.tables.endpoints import reducer
from analysis.tables.results import Results

FAMILIES = ("gradient_norm", "update_ratio", "stream/rms", "stream/rank", "attention/entropy", "attention/saturation")


def layer_families(results: Results) -> list[str]:
    """Those of `FAMILIES` that were measured in more than one layer."""
    layers = [found for name in results.measures.index if (found := re.fullmatch(r"(.+)/layers\.(\d+)", name))]
    counts = pd.Series([found[1] for found in layers], dtype=str).value_counts()
    return [family for family in FAMILIES if counts.get(family, 0) > 1]


def layer_profiles(results: Results) -> dict[str, pd.DataFrame]:
    """For each family, arms by layers: a trial's value reduced over steps as declared, in the mean over seeds.

    Families of which no finished trial has a number are left out.
    """
    names = {family: _layer_columns(results, family) for family in layer_families(results)}
    finished = results.trials[results.trials.status == "finished"]  # no mean has a diverged one
    history = replace(results, trials=finished).read_columns(*(name for own in names.values() for name in own))
    found = {family: _arm_profile(results, history, own) for family, own in names.items()}
    return {family: profile for family, profile in found.items() if profile.notna().any(axis=None)}


def _layer_columns(results: Results, family: str) -> list[str]:
    found = [name for name in results.measures.index if re.fullmatch(rf"{re.escape(family)}/layers\.\d+", name)]
    return sorted(found, key=_layer_number)


def _layer_number(name: str) -> int:
    return int(name.rpartition(".")[2])


def _arm_profile(results: Results, history: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    columns = {}
    for name in names:
        trials = history[["arm", "seed", name]].dropna().groupby(["arm", "seed"], sort=False)[name]
        reduced = trials.agg(reducer(results.measures.reduction[name]))
        columns[_layer_number(name)] = reduced.groupby("arm").mean()
    return pd.DataFrame(columns, dtype=float).reindex(results.arms)
