"""Measures that a trial has of every layer."""

import re
from dataclasses import replace

import pandas as pd

from analysis.tables.endpoints import reducer
from analysis.tables.results import Results

FAMILIES = ("gradient_norm", "update_ratio", "stream/rms", "stream/rank", "attention/entropy", "attention/saturation")


def layer_families(results: Results) -> list[str]:
    """Those of `FAMILIES` that were measured in more than one layer."""
    return [family for family in FAMILIES if len(_layer_columns(results, family)) > 1]


def layer_profiles(results: Results) -> dict[str, pd.DataFrame]:
    """For each family, arms by layers: a trial's value reduced over steps as declared, in the mean over seeds.

    Families of which no finished trial has a number are left out; diverged trials count in no mean.
    """
    columns = {family: _layer_columns(results, family) for family in layer_families(results)}
    all_columns = [name for names in columns.values() for name in names]
    history = replace(results, trials=results.finished).read_columns(*all_columns)
    profiles = {family: _arm_profile(results, history, names) for family, names in columns.items()}
    return {family: profile for family, profile in profiles.items() if profile.notna().any(axis=None)}


def _layer_columns(results: Results, family: str) -> list[str]:
    pattern = rf"{re.escape(family)}/layers\.\d+"
    return sorted((name for name in results.measures.index if re.fullmatch(pattern, name)), key=_layer_number)


def _layer_number(name: str) -> int:
    return int(name.rpartition(".")[2])


def _arm_profile(results: Results, history: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    columns = {}
    for name in names:
        trials = history[["arm", "seed", name]].dropna().groupby(["arm", "seed"], sort=False)[name]
        reduced = trials.agg(reducer(results.measures.reduction[name]))
        columns[_layer_number(name)] = reduced.groupby("arm").mean()
    return pd.DataFrame(columns, dtype=float).reindex(results.arms)
