"""What does an arm change, and how sure are we?

Effects are differences paired by seed: both arms of a pair saw the same tokens and share every
weight that the arm does not touch, so what a seed does to both cancels.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.weightstats import ttost_paired

from analysis.frame import Effects
from analysis.power import detectable, detectable_share, seeds_for_share, seeds_needed
from analysis.results import Results

LEVEL = 0.95
EXACT = 16  # pairs up to which all flips of signs are tried
ABSENT = (  # where there is no spread
    "low", "high", "bca_low", "bca_high", "deviation", "p", "p_holm", "p_sign_flip", "detectable", "seeds", "saved",
)  # fmt: skip
ROUNDING = 1e-12  # of the values, what differences of differences can owe to it
RESAMPLED = 20  # pairs from which a bootstrap's interval covers nearly as often as it says


def effects(results: Results) -> pd.DataFrame:
    """Every arm against the baseline on every endpoint of the study: a table of `analysis.frame.Effects`.

    p-values are of paired t-tests, `p_holm` corrected over all rows (Holm 1979), `p_sign_flip` of the exact
    sign-flip test beside them. `detectable` is what the first step of that correction could see, `seeds` how many
    would see this difference at this spread. From 20 pairs on, `bca_low` and `bca_high` are a bootstrap's interval.
    Pairs in which either trial diverged or is missing do not count.
    """
    baseline, *others = results.arms
    family = max(1, len(results.endpoints) * len(others))
    made = []
    for measure, table in results.endpoints.items():
        unit = results.unit(measure)
        said = (
            {"arm": arm, "endpoint": measure, "unit": unit} | paired(table[baseline], table[arm], family)
            for arm in others
        )
        made += said
    frame = pd.DataFrame(made, columns=list(Effects.__annotations__))
    return Effects.check(frame.assign(p_holm=holm(frame.p.astype(float).to_list())))


def paired(baseline: pd.Series, level: pd.Series, family: int = 1) -> dict[str, float | int | bool]:
    """Mean of level − baseline over seeds that have both, d̄ ± t_(n−1) s_d / √n, with its tests.

    One pair has no interval; differences that are all exactly zero are called identical and have no test.
    Where a t-test has no meaning (differences without spread, endpoints of 0 and 1), there is no interval, and p is
    that of the exact sign test, which is the sign-flip test there. `family` counts the comparisons among which this is
    one.

    >>> made = paired(pd.Series([1.0, 2.0, 3.0]), pd.Series([1.5, 2.6, 3.4]))
    >>> [round(float(made[name]), 3) for name in ("effect", "low", "high")]
    [0.5, 0.252, 0.748]
    """
    both = pd.DataFrame({"baseline": baseline, "level": level}).dropna()
    change = (both.level - both.baseline).to_numpy()
    found: dict[str, float | int | bool] = dict.fromkeys(ABSENT, np.nan)
    found |= {"pairs": len(change), "baseline": both.baseline.mean(), "level": both.level.mean()}
    found |= {"effect": float((both.level - both.baseline).mean()), "identical": len(change) > 0 and not change.any()}
    if len(change) < 2:
        return found
    exactly = shares(both)
    if exactly:
        found |= _shares(change, (1 - LEVEL) / family)
    elif not flat(both):
        found |= _spread(change, (1 - LEVEL) / family)
    if flat(both):
        found["deviation"] = 0.0
    else:
        found["saved"] = (both.baseline.var() + both.level.var()) / change.var(ddof=1)
    return found | _tested(change, exactly=exactly or flat(both))


def shares(values: pd.DataFrame) -> bool:
    """Whether all values that are there are 0 or 1, so that their mean is a share."""
    return bool((values.isin([0.0, 1.0]) | values.isna()).all(axis=None))


def flat(both: pd.DataFrame) -> bool:
    """Whether differences are the same in every pair, but for what rounding does to them."""
    change = both["level"] - both["baseline"]
    return bool(np.ptp(change.to_numpy()) <= ROUNDING * both.abs().to_numpy().max())


def _spread(change: np.ndarray, alpha: float) -> dict[str, float]:
    """The interval and what this many pairs could see."""
    deviation = float(change.std(ddof=1))
    test: Any = stats.ttest_1samp(change, 0.0)  # scipy's stubs know neither of its results' fields
    low, high = test.confidence_interval(LEVEL)
    seen, wanted = detectable(len(change), alpha) * deviation, seeds_needed(change.mean() / deviation, alpha)
    said = {"low": low, "high": high, "deviation": deviation, "detectable": seen, "seeds": wanted or np.inf}
    return said | (_resampled(change) if len(change) >= RESAMPLED else {})


def _shares(change: np.ndarray, alpha: float) -> dict[str, float]:
    """What this many pairs of zeros and ones could see; a t-interval would reach beyond what shares can be."""
    wanted = seeds_for_share(float(change.mean()), alpha) or np.inf
    seen = detectable_share(len(change), alpha)
    return {"deviation": float(change.std(ddof=1)), "detectable": seen, "seeds": wanted}


def _resampled(change: np.ndarray) -> dict[str, float]:
    """The interval of Efron's BCa bootstrap, the same whenever it is asked for."""
    found: Any = stats.bootstrap((change,), np.mean, confidence_level=LEVEL, method="BCa", rng=np.random.default_rng(0))
    return {"bca_low": found.confidence_interval.low, "bca_high": found.confidence_interval.high}


def _tested(change: np.ndarray, *, exactly: bool) -> dict[str, float]:
    if not change.any():
        return {}
    signs = int((change > 0).sum()), int((change != 0).sum())
    test: Any = stats.binomtest(*signs) if exactly else stats.ttest_1samp(change, 0.0)
    return {"p": test.pvalue, "p_sign_flip": sign_flip(change)}


def welch(first: pd.Series, second: pd.Series) -> dict[str, float]:
    """Means of two samples that are not paired, second − first, and its 95 % interval (Welch 1947).

    >>> welch(pd.Series([1.0, 2.0, 3.0]), pd.Series([2.0, 4.0, 6.0]))["difference"]
    2.0
    """
    found = {"first": float(first.mean()), "second": float(second.mean())}
    found["difference"] = found["second"] - found["first"]
    few = min(len(first), len(second)) < 2 or not (first.std() or second.std())
    test: Any = None if few else stats.ttest_ind(second, first, equal_var=False)
    low, high = (np.nan, np.nan) if test is None else test.confidence_interval(LEVEL)
    return found | {"low": float(low), "high": float(high)}


def half_width(values: pd.Series) -> float:
    """t_(n−1) s / √n of the values that are there, half of the 95 % interval of their mean; NaN for fewer than two.

    >>> round(half_width(pd.Series([1.0, 2.0, 3.0])), 3)
    2.484
    """
    there = values.dropna()
    return float(stats.t.isf((1 - LEVEL) / 2, len(there) - 1) * there.sem()) if len(there) > 1 else float("nan")


def sign_flip(change: np.ndarray) -> float:
    """The share of all 2ⁿ ways to flip signs whose mean is at least as far from zero; NaN beyond 16 pairs.

    >>> sign_flip(np.array([1.0, 2.0, 3.0]))  # 2 / 2³
    0.25
    """
    if len(change) > EXACT:
        return float("nan")
    found = stats.permutation_test((change,), np.mean, permutation_type="samples", n_resamples=2**EXACT)
    return float(found.pvalue)


def holm(p: Sequence[float]) -> list[float]:
    """p-values corrected over a family (Holm 1979); those that do not exist stay out of it.

    >>> [round(x, 3) for x in holm([0.01, float("nan"), 0.04])]
    [0.02, nan, 0.04]
    """
    values = np.array(p, dtype=float)
    there = ~np.isnan(values)
    if there.any():
        values[there] = multipletests(values[there], method="holm")[1]
    return values.tolist()


def equivalence(baseline: pd.Series, level: pd.Series, margin: float) -> float:
    """The p-value of two one-sided paired tests that the mean difference lies within ± margin (Schuirmann 1987).

    Differences without spread are tested by looking: 0 if they lie within, 1 if not. NaN for fewer than two pairs.
    """
    both = pd.DataFrame({"baseline": baseline, "level": level}).dropna()
    if len(both) < 2:
        return float("nan")
    if flat(both):
        return float(abs((both.level - both.baseline).mean()) > margin)
    return float(ttost_paired(both.level.to_numpy(), both.baseline.to_numpy(), -margin, margin)[0])
