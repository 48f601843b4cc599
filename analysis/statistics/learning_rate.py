"""Sensitivity to the learning rate, of studies that vary it."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

import numpy as np
import pandas as pd

from analysis.tables.results import Results

RATE, LOSS = "optimizer.lr", "val/loss"


@dataclass(frozen=True)
class RatePoint:
    """The final validation loss of a group of arms at one learning rate, over `n` trials of which some diverged.

    A group is an arm without its rate.
    """

    group: str
    rate: float
    mean: float
    sd: float
    n: int
    diverged: int


@dataclass(frozen=True)
class RateSensitivity:
    """The best loss of a group, its rate, whether that is at the edge of the grid, and the sensitivity in nats."""

    group: str
    best: float
    rate: float
    edge: bool
    sensitivity: float


def learning_rate_curves(results: Results) -> list[RatePoint]:
    """Final validation loss by learning rate, group by group in the order of the arms; none if there is one rate only.

    A diverged trial has the loss that its model began with, as the definition of sensitivity has it.
    """
    levels = {label: arm.levels for label, arm in results.study.arms.items()}
    if len({arm.get(RATE) for arm in levels.values()}) < 2 or LOSS not in results.measures.index:
        return []
    final, first = results.reduce_endpoint(LOSS, "final"), initial_loss(results)
    points = []
    for arm, arm_levels in levels.items():
        trials = results.complete[results.complete.arm == arm]
        losses = final[arm].reindex(trials.seed).fillna(first[arm]).clip(upper=first[arm])
        group = ", ".join(f"{factor}={level}" for factor, level in arm_levels.items() if factor != RATE) or "all"
        diverged = int((trials.status == "diverged").sum())
        mean, sd = float(losses.mean()), float(losses.std())
        points.append(RatePoint(group, float(arm_levels[RATE]), mean, sd, len(losses), diverged))
    order = list(dict.fromkeys(point.group for point in points))
    points.sort(key=lambda point: (order.index(point.group), point.rate))
    return [point for point in points if point.n]


def initial_loss(results: Results) -> pd.Series:
    """Each arm's loss before the first step, in the mean over its trials."""
    history = results.read_columns(LOSS)
    return history[history.step == 0].groupby("arm")[LOSS].mean().reindex(results.arms)


def sensitivities(points: Iterable[RatePoint]) -> list[RateSensitivity]:
    """Of each group: the best loss l* over the rates, the rate that has it, whether that lies on the grid's edge, and
    E_η[min(l(η), l₀) − l*], l₀ the loss before the first step; small is insensitive, and means nothing without l*.

    Source: Wortsman et al. 2023, arXiv:2309.14322, section 2.2.
    """
    by_group = groupby(points, key=lambda point: point.group)
    return [_group_sensitivity(group, list(group_points)) for group, group_points in by_group]


def _group_sensitivity(group: str, points: list[RatePoint]) -> RateSensitivity:
    losses = np.array([point.mean for point in points])
    best = int(np.argmin(losses))
    return RateSensitivity(
        group=group,
        best=float(losses[best]),
        rate=points[best].rate,
        edge=best in (0, len(points) - 1),
        sensitivity=float((losses - losses[best]).mean()),
    )
