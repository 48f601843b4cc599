"""The effect of each arm on each endpoint, with its uncertainty.

Effects are differences paired by seed: both trials of a pair read the same tokens and share every weight that the arm
does not touch, so that what a seed does to both cancels.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from math import inf, nan
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.weightstats import ttost_paired

from analysis.statistics.comparability import incomparable_reason
from analysis.statistics.power import detectable, detectable_share, seeds_for_share, seeds_needed
from analysis.tables.columns import Effect, PairedEffect
from analysis.tables.results import Results

LEVEL = 0.95


EXACT_UP_TO = 16  # pairs up to which all flips of signs are tried


ROUNDING = 1e-12  # relative to the values: the largest spread of differences that rounding alone can cause


BCA_FROM = 20  # pairs from which on the coverage of a bootstrap interval is close to nominal


def paired_effects(results: Results) -> list[Effect]:
    """Every arm against the baseline on every endpoint of the study, endpoint by endpoint.

    p-values are of paired t-tests, `p_holm` corrected over all effects (Holm 1979), `p_sign_flip` of the exact
    sign-flip test. `detectable` and `seeds_needed` are at the level of the first step of that correction. Pairs in
    which either trial diverged or is missing do not count. Arms that cannot be compared have their means and the
    reason, no effect and no test, and do not count in the correction.
    """
    baseline, *others = results.arms
    reasons = {(arm, name): incomparable_reason(results, arm, name) for name in results.endpoints for arm in others}
    family = max(1, sum(not reason for reason in reasons.values()))
    effects = []
    for (arm, endpoint), reason in reasons.items():
        table = results.endpoints[endpoint]
        difference = paired_effect(table[baseline], table[arm], family)
        values = asdict(_without_effect(difference, reason) if reason else difference)
        effects.append(Effect(arm=arm, endpoint=endpoint, unit=results.unit_of(endpoint), **values))
    corrected = holm_corrected([effect.p for effect in effects])
    return [replace(effect, p_holm=p) for effect, p in zip(effects, corrected, strict=True)]


def _without_effect(difference: PairedEffect, reason: str) -> PairedEffect:
    """The means of two arms that cannot be compared, and the reason."""
    return PairedEffect(
        pairs=difference.pairs, baseline_mean=difference.baseline_mean, arm_mean=difference.arm_mean, effect=nan,
        incomparable=reason,
    )  # fmt: skip


def paired_effect(baseline: pd.Series, arm: pd.Series, family: int = 1) -> PairedEffect:
    """Mean of arm − baseline over seeds that have both, d̄ ± t_(n−1) s_d / √n, with its tests.

    One pair has no interval; differences that are all exactly zero are called identical and have no test.
    Where a t-test has no meaning (differences without spread, endpoints of 0 and 1), there is no interval, and p is
    that of the exact sign test, which is the sign-flip test there. `family` is the number of comparisons among which
    this is one.

    >>> effect = paired_effect(pd.Series([1.0, 2.0, 3.0]), pd.Series([1.5, 2.6, 3.4]))
    >>> round(effect.effect, 3), round(effect.low, 3), round(effect.high, 3)
    (0.5, 0.252, 0.748)
    """
    pairs = pd.DataFrame({"baseline": baseline, "arm": arm}).dropna()
    differences = (pairs.arm - pairs.baseline).to_numpy()
    effect = PairedEffect(
        pairs=len(pairs),
        baseline_mean=float(pairs.baseline.mean()),
        arm_mean=float(pairs.arm.mean()),
        effect=float((pairs.arm - pairs.baseline).mean()),
        identical=len(pairs) > 0 and not differences.any(),
    )
    if len(pairs) < 2:
        return effect
    constant, shares, alpha = have_no_spread(pairs), are_shares(pairs), (1 - LEVEL) / family
    if shares:
        effect = _with_share_power(effect, differences, alpha)
    elif not constant:
        effect = _with_t_interval(effect, differences, alpha)
    if constant:
        effect = replace(effect, sd_of_differences=0.0)
    else:
        unpaired_variance = pairs.baseline.var() + pairs.arm.var()
        effect = replace(effect, pairing_gain=float(unpaired_variance / differences.var(ddof=1)))
    return effect if effect.identical else _with_p_values(effect, differences, exactly=shares or constant)


def are_shares(values: pd.DataFrame) -> bool:
    """Whether all values that are not missing are 0 or 1, so that their mean is a share."""
    return bool((values.isin([0.0, 1.0]) | values.isna()).all(axis=None))


def have_no_spread(pairs: pd.DataFrame) -> bool:
    """Whether the differences arm − baseline are the same in every pair, up to rounding."""
    differences = pairs["arm"] - pairs["baseline"]
    return bool(np.ptp(differences.to_numpy()) <= ROUNDING * pairs.abs().to_numpy().max())


def _with_t_interval(effect: PairedEffect, differences: np.ndarray, alpha: float) -> PairedEffect:
    """With the t-interval, from 20 pairs on Efron's BCa bootstrap interval too, and the power of the t-test."""
    deviation = float(differences.std(ddof=1))
    test: Any = stats.ttest_1samp(differences, 0.0)  # scipy's stubs lack the fields of its results
    low, high = test.confidence_interval(LEVEL)
    effect = replace(
        effect, low=float(low), high=float(high), sd_of_differences=deviation,
        detectable=detectable(len(differences), alpha) * deviation,
        seeds_needed=float(seeds_needed(differences.mean() / deviation, alpha) or inf),
    )  # fmt: skip
    if len(differences) < BCA_FROM:
        return effect
    generator = np.random.default_rng(0)  # the same interval whenever it is computed
    resampled: Any = stats.bootstrap((differences,), np.mean, confidence_level=LEVEL, method="BCa", rng=generator)
    interval = resampled.confidence_interval
    return replace(effect, bca_low=float(interval.low), bca_high=float(interval.high))


def _with_share_power(effect: PairedEffect, differences: np.ndarray, alpha: float) -> PairedEffect:
    """With the power of the exact test on zeros and ones; a t-interval would reach beyond the range of shares."""
    return replace(
        effect, sd_of_differences=float(differences.std(ddof=1)),
        detectable=detectable_share(len(differences), alpha),
        seeds_needed=float(seeds_for_share(float(differences.mean()), alpha) or inf),
    )  # fmt: skip


def _with_p_values(effect: PairedEffect, differences: np.ndarray, *, exactly: bool) -> PairedEffect:
    positive, nonzero = int((differences > 0).sum()), int((differences != 0).sum())
    test: Any = stats.binomtest(positive, nonzero) if exactly else stats.ttest_1samp(differences, 0.0)
    return replace(effect, p=float(test.pvalue), p_sign_flip=sign_flip_p(differences))


@dataclass(frozen=True)
class MeanDifference:
    """The means of two samples, second − first, and its 95 % interval; NaN where there is none."""

    first: float
    second: float
    difference: float
    low: float
    high: float


def welch_interval(first: pd.Series, second: pd.Series) -> MeanDifference:
    """The difference of the means of two unpaired samples, with the interval of Welch (1947).

    >>> welch_interval(pd.Series([1.0, 2.0, 3.0]), pd.Series([2.0, 4.0, 6.0])).difference
    2.0
    """
    means, low, high = (float(first.mean()), float(second.mean())), nan, nan
    if min(len(first), len(second)) > 1 and (first.std() or second.std()):
        test: Any = stats.ttest_ind(second, first, equal_var=False)
        low, high = test.confidence_interval(LEVEL)
    return MeanDifference(*means, means[1] - means[0], float(low), float(high))


def half_width(values: pd.Series) -> float:
    """t_(n−1) s / √n of the values that are not missing, half of the 95 % interval of their mean; NaN for fewer than 2.

    >>> round(half_width(pd.Series([1.0, 2.0, 3.0])), 3)
    2.484
    """
    present = values.dropna()
    return float(stats.t.isf((1 - LEVEL) / 2, len(present) - 1) * present.sem()) if len(present) > 1 else nan


def sign_flip_p(differences: np.ndarray) -> float:
    """The share of all 2ⁿ ways to flip signs whose mean is at least as far from zero; NaN beyond 16 pairs.

    >>> sign_flip_p(np.array([1.0, 2.0, 3.0]))  # 2 / 2³
    0.25
    """
    if len(differences) > EXACT_UP_TO:
        return nan
    test = stats.permutation_test((differences,), np.mean, permutation_type="samples", n_resamples=2**EXACT_UP_TO)
    return float(test.pvalue)


def holm_corrected(p: Sequence[float]) -> list[float]:
    """p-values corrected over a family (Holm 1979); NaN stays NaN and does not count in the family.

    >>> [round(x, 3) for x in holm_corrected([0.01, float("nan"), 0.04])]
    [0.02, nan, 0.04]
    """
    values = np.array(p, dtype=float)
    tested = ~np.isnan(values)
    if tested.any():
        values[tested] = multipletests(values[tested], method="holm")[1]
    return values.tolist()


def equivalence_p(baseline: pd.Series, arm: pd.Series, margin: float) -> float:
    """The p-value of two one-sided paired tests that the mean difference lies within ± margin (Schuirmann 1987).

    Differences without spread need no test: 0 if they lie within, 1 if not. NaN for fewer than two pairs.
    """
    pairs = pd.DataFrame({"baseline": baseline, "arm": arm}).dropna()
    if len(pairs) < 2:
        return nan
    if have_no_spread(pairs):
        return float(abs((pairs.arm - pairs.baseline).mean()) > margin)
    return float(ttost_paired(pairs.arm.to_numpy(), pairs.baseline.to_numpy(), -margin, margin)[0])
