"""Shares of trials, and times that not every trial reaches."""

from typing import Any

import numpy as np
import pandas as pd
from scipy import stats
from statsmodels.duration.survfunc import SurvfuncRight

from analysis.results import ENDED, Results


def share(count: int, n: int) -> dict[str, float]:
    """count / n with its 95 % interval (Clopper & Pearson 1934).

    >>> [round(share(0, 10)[name], 2) for name in ("share", "low", "high")]
    [0.0, 0.0, 0.31]
    """
    if not n:
        return dict.fromkeys(("share", "low", "high"), float("nan"))
    low, high = stats.binomtest(count, n).proportion_ci(method="exact")
    return {"share": count / n, "low": float(low), "high": float(high)}


def rates(results: Results) -> list[dict[str, Any]]:
    """Of each arm's ended trials, how many diverged, and how many solved the task if it is one that can be solved."""
    found: list[dict[str, Any]] = []
    for arm, trials in results.trials[results.trials.status.isin(ENDED)].groupby("arm", sort=False):
        diverged, n = int((trials.status == "diverged").sum()), len(trials)
        found.append({"arm": arm, "what": "diverged", "count": diverged, "n": n, **share(diverged, n)})
        if "solved" in results.measures.index:
            solved = int(results.endpoint("solved", "final")[arm].fillna(0).sum())
            found.append({"arm": arm, "what": "solved", "count": solved, "n": n, **share(solved, n)})
    return found


def solving(results: Results) -> list[dict[str, Any]]:
    """Steps until an arm's trials have solved their task: Kaplan & Meier's median, and the mean within the budget

    A trial that has not solved it by its last step counts as not solved by then, one that diverged as never solved.
    """
    if "steps_to_solve" not in results.measures.index:
        return []
    steps = results.endpoint("steps_to_solve", "final").where(results.endpoint("solved", "final") == 1)
    ended = results.trials[results.trials.status.isin(ENDED)]
    last = (
        results.recorded().groupby("arm").step.max()
    )  # of an arm: a diverged trial is not solved until the others' end
    return [
        {"arm": arm, "n": len(trials), **survival(steps[arm].reindex(trials.seed), float(last[str(arm)]))}
        for arm, trials in ended.groupby("arm", sort=False)
    ]


def survival(steps: pd.Series, budget: float) -> dict[str, float]:
    """Median and restricted mean of times of which those that are missing are only known to be beyond the budget.

    The median is the first time by which at least half are there, infinite if that is beyond the budget too.

    >>> survival(pd.Series([100.0, 200.0, 300.0, float("nan")]), 400)
    {'median': 200.0, 'mean': 250.0, 'budget': 400}
    """
    curve = SurvfuncRight(steps.fillna(budget).to_numpy(), steps.notna().astype(int).to_numpy())
    times = np.concatenate([[0.0], curve.surv_times, [budget]])
    left = np.concatenate([[1.0], curve.surv_prob])
    reached = curve.surv_times[curve.surv_prob < 0.5 + 1e-9]
    median = float(reached[0]) if len(reached) else float("inf")
    return {"median": median, "mean": float((np.diff(times) * left).sum()), "budget": budget}
