"""Curves of an arm over its seeds: mean, interval and n at every point."""

import numpy as np
import pandas as pd
from scipy import stats

from analysis.statistics.effects import LEVEL
from analysis.statistics.rates import share_interval

COLUMNS = ["arm", "step", "mean", "low", "high", "n"]


def mean_curve(history: pd.DataFrame, measure: str, points: int = 60) -> pd.DataFrame:
    """Mean over seeds with its t-interval at each step: arm, step, mean, low, high, n.

    A measure with more than `points` steps is first averaged, seed by seed, over `points` equal stretches of steps;
    `step` is a stretch's last. Values that are not finite are left out, and n does not count them; one seed has no
    interval. Shares have the interval of Clopper and Pearson.
    """
    values = history[["arm", "seed", "step", measure]].replace([np.inf, -np.inf], np.nan).dropna()
    width = -(-int(values.step.max()) // points) if values.step.nunique() > points else 1
    ends = np.ceil(values.step / width).astype(int) * width
    by_seed = values.assign(step=ends).groupby(["arm", "seed", "step"], sort=True)[measure].mean()
    curve = by_seed.groupby(["arm", "step"], sort=True).agg(["mean", "std", "count"]).reset_index()
    curve = curve.rename(columns={"count": "n"})
    if len(values) and values[measure].isin([0.0, 1.0]).all():
        intervals = [share_interval(mean * n, n) for mean, n in zip(curve["mean"], curve.n, strict=True)]
        curve = curve.assign(low=[i.low for i in intervals], high=[i.high for i in intervals])
        return curve[COLUMNS]
    half = stats.t.isf((1 - LEVEL) / 2, curve.n.clip(lower=2) - 1) * curve["std"] / np.sqrt(curve.n)
    return curve.assign(low=curve["mean"] - half, high=curve["mean"] + half)[COLUMNS]
