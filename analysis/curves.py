"""Curves of an arm over its seeds: mean, interval and n at every point."""

import numpy as np
import pandas as pd
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from analysis.effect import LEVEL

COLUMNS = ["arm", "step", "mean", "low", "high", "n"]


def curve(history: pd.DataFrame, measure: str, points: int = 60) -> pd.DataFrame:
    """Mean over seeds with its t-interval at each step: arm, step, mean, low, high, n.

    A measure with more than `points` steps is first averaged, seed by seed, over as many equal stretches of
    steps; the step shown is a stretch's last. Values that are not finite are left out, and n says so; one
    seed has no interval. Shares have Clopper and Pearson's.
    """
    values = history[["arm", "seed", "step", measure]].replace([np.inf, -np.inf], np.nan).dropna()
    width = -(-int(values.step.max()) // points) if values.step.nunique() > points else 1
    ends = np.ceil(values.step / width).astype(int) * width
    seeds = values.assign(step=ends).groupby(["arm", "seed", "step"], sort=True)[measure].mean()
    found = seeds.groupby(["arm", "step"], sort=True).agg(["mean", "std", "count"]).reset_index()
    if len(values) and values[measure].isin([0.0, 1.0]).all():
        counts = (found["mean"] * found["count"]).to_numpy(), found["count"].to_numpy()
        low, high = np.asarray(proportion_confint(*counts, 1 - LEVEL, "beta"))
        return found.assign(low=low, high=high, n=found["count"])[COLUMNS]
    half = stats.t.isf((1 - LEVEL) / 2, found["count"].clip(lower=2) - 1) * found["std"] / np.sqrt(found["count"])
    return found.assign(low=found["mean"] - half, high=found["mean"] + half, n=found["count"])[COLUMNS]
