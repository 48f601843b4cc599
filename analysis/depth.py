"""Measures that a trial has of every layer."""

import re

import pandas as pd

from analysis.reduction import reducer
from analysis.results import Results

FAMILIES = ("gradient_norm", "update_ratio", "stream/rms", "stream/rank", "attention/entropy", "attention/saturation")


def families(results: Results) -> list[str]:
    """Those of `FAMILIES` that were measured in more than one layer."""
    layers = [found for name in results.measures.index if (found := re.fullmatch(r"(.+)/layers\.(\d+)", name))]
    counts = pd.Series([found[1] for found in layers], dtype=str).value_counts()
    return [family for family in FAMILIES if counts.get(family, 0) > 1]


def profile(results: Results, family: str) -> pd.DataFrame:
    """Arms by layers: each trial's value reduced over steps as the measure declares, in the mean over seeds."""
    names = [name for name in results.measures.index if re.fullmatch(rf"{re.escape(family)}/layers\.\d+", name)]
    names.sort(key=lambda name: int(name.rpartition(".")[2]))
    history = results.recorded(*names)
    columns = {}
    for name in names:
        reduce = reducer(results.measures.reduction[name])
        kept = (
            history[["arm", "seed", name]].dropna()
            if name in history
            else history[["arm", "seed"]].assign(**{name: 0.0})[:0]
        )
        trials = kept.groupby(["arm", "seed"], sort=False)[name].agg(reduce)
        columns[int(name.rpartition(".")[2])] = trials.groupby("arm").mean()
    return pd.DataFrame(columns).reindex(results.arms)
