"""Curves of an arm over its seeds: mean, interval and n at every point."""

import numpy as np
import pandas as pd
from scipy import stats

from analysis.effect import LEVEL


def curve(history: pd.DataFrame, measure: str, points: int = 60) -> pd.DataFrame:
    """Mean over seeds with its t-interval at each step: arm, step, mean, low, high, n.

    A measure with more than `points` steps is first averaged, seed by seed, over as many equal stretches of
    steps; the step shown is a stretch's last. Values that are not finite are left out, and n says so; one
    seed has no interval.
    """
    values = history[["arm", "seed", "step", measure]].replace([np.inf, -np.inf], np.nan).dropna()
    width = -(-int(values.step.max()) // points) if values.step.nunique() > points else 1
    ends = np.ceil(values.step / width).astype(int) * width
    seeds = values.assign(step=ends).groupby(["arm", "seed", "step"], sort=True)[measure].mean()
    found = seeds.groupby(["arm", "step"], sort=True).agg(["mean", "std", "count"]).reset_index()
    half = stats.t.isf((1 - LEVEL) / 2, found["count"].clip(lower=2) - 1) * found["std"] / np.sqrt(found["count"])
    return found.assign(low=found["mean"] - half, high=found["mean"] + half, n=found["count"])[
        ["arm", "step", "mean", "low", "high", "n"]
    ]
