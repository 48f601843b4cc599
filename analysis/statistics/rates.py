"""Shares of trials, and times to an event that not every trial reaches."""

from dataclasses import dataclass
from math import inf, nan

import numpy as np
import pandas as pd
from scipy import stats
from statsmodels.duration.survfunc import SurvfuncRight

from analysis.statistics.effects import LEVEL
from analysis.tables.results import Results


@dataclass(frozen=True)
class ShareInterval:
    """A share and its 95 % interval; NaN where there are no trials."""

    share: float
    low: float
    high: float


@dataclass(frozen=True)
class OutcomeRate:
    """How many of an arm's `n` complete trials had an outcome: diverged or solved."""

    arm: str
    outcome: str
    count: int
    n: int
    interval: ShareInterval


@dataclass(frozen=True)
class SolvingTime:
    """Steps to an event: the median, the mean within the budget, and the budget in steps."""

    median: float
    mean: float
    budget: float


@dataclass(frozen=True)
class ArmSolvingTime:
    """The steps that an arm's `n` complete trials needed to solve their task."""

    arm: str
    n: int
    time: SolvingTime


def share_interval(count: float, n: int) -> ShareInterval:
    """count / n with its 95 % interval (Clopper & Pearson 1934): the quantiles of Beta(count, n − count + 1) and
    Beta(count + 1, n − count), which are defined for averaged counts too.

    >>> interval = share_interval(0, 10)
    >>> interval.share, round(interval.low, 2), round(interval.high, 2)
    (0.0, 0.0, 0.31)
    """
    if not n:
        return ShareInterval(nan, nan, nan)
    tail = (1 - LEVEL) / 2
    low = float(stats.beta.ppf(tail, count, n - count + 1)) if count > 0 else 0.0
    high = float(stats.beta.isf(tail, count + 1, n - count)) if count < n else 1.0
    return ShareInterval(count / n, low, high)


def outcome_rates(results: Results) -> list[OutcomeRate]:
    """Of each arm's complete trials, how many diverged, and how many solved the task if it can be solved."""
    rates: list[OutcomeRate] = []
    for label, trials in results.complete.groupby("arm", sort=False):
        arm, counts = str(label), {"diverged": int((trials.status == "diverged").sum())}
        if "solved" in results.measures.index:
            counts["solved"] = int(results.reduce_endpoint("solved", "final")[arm].fillna(0).sum())
        rates += [
            OutcomeRate(arm, outcome, count, len(trials), share_interval(count, len(trials)))
            for outcome, count in counts.items()
        ]
    return rates


def times_to_solve(results: Results) -> list[ArmSolvingTime]:
    """Steps until an arm's trials have solved their task, by Kaplan & Meier.

    A trial that has not solved it by its last step counts as not solved by then; a trial that diverged counts as not
    solved until the end of the arm's other trials.
    """
    if "steps_to_solve" not in results.measures.index:
        return []
    solved = results.reduce_endpoint("solved", "final") == 1
    steps = results.reduce_endpoint("steps_to_solve", "final").where(solved)
    last_steps = results.read_columns().groupby("arm").step.max()
    return [
        ArmSolvingTime(
            str(arm), len(trials), kaplan_meier(steps[arm].reindex(trials.seed), float(last_steps[str(arm)]))
        )
        for arm, trials in results.complete.groupby("arm", sort=False)
    ]


def kaplan_meier(steps: pd.Series, budget: float) -> SolvingTime:
    """Median and restricted mean of times, of which missing ones are only known to be beyond the budget.

    The median is the first time by which at least half are reached, infinite if that is beyond the budget too.

    >>> kaplan_meier(pd.Series([100.0, 200.0, 300.0, float("nan")]), 400)
    SolvingTime(median=200.0, mean=250.0, budget=400)
    """
    curve = SurvfuncRight(steps.fillna(budget).to_numpy(), steps.notna().astype(int).to_numpy())
    times = np.concatenate([[0.0], curve.surv_times, [budget]])
    unsolved = np.concatenate([[1.0], curve.surv_prob])
    reached = curve.surv_times[curve.surv_prob < 0.5 + 1e-9]
    median = float(reached[0]) if len(reached) else inf
    return SolvingTime(median, float((np.diff(times) * unsolved).sum()), budget)
