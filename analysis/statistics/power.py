"""The power of paired tests: detectable effects and the seeds that an effect needs.

The power of the paired t-test is integrated over the chi distribution of the standard deviation:
`scipy.stats.nct` gives NaN at large effects and statsmodels' solver goes wrong at tiny samples.
"""

from bisect import bisect_left
from collections.abc import Callable
from functools import lru_cache
from math import ceil, log2
from typing import Any

import numpy as np
from scipy.integrate import simpson
from scipy.optimize import brentq
from scipy.stats import binom, chi, norm, t

MOST_SEEDS = 1000  # beyond so many seeds no number is recommended


def paired_power(effect: float, pairs: int, alpha: float = 0.05) -> float:
    """The power of a two-sided paired t-test at level `alpha` for an `effect` in SD of the paired differences.

    P(|Z + effect √n| > t_(1−α/2, n−1) · S), Z standard normal, S² a chi-square over its n − 1 degrees of freedom.

    >>> round(paired_power(0.0, 8), 3), round(paired_power(1.0, 10), 3)
    (0.05, 0.803)
    """
    degrees, shift = pairs - 1, effect * np.sqrt(pairs)
    middle = np.sqrt(degrees)
    spread = np.linspace(max(0.0, middle - 12), middle + 12, 4001)
    threshold = t.isf(alpha / 2, degrees) * spread / middle
    return float(
        simpson((norm.sf(threshold - shift) + norm.cdf(-threshold - shift)) * chi.pdf(spread, degrees), x=spread)
    )


def equivalence_power(margin: float, pairs: int, alpha: float = 0.05) -> float:
    """The power of two one-sided paired t-tests to show that an effect of 0 lies within ± margin, in SD.

    P(|Z| < √n · margin − t_(1−α, n−1) · S) with Z and S as in `paired_power`.

    >>> equivalence_power(1.0, 10) < 0.8 < equivalence_power(1.0, 11)
    True
    """
    degrees = pairs - 1
    middle = np.sqrt(degrees)
    spread = np.linspace(max(0.0, middle - 12), middle + 12, 4001)
    width = np.sqrt(pairs) * margin - t.isf(alpha, degrees) * spread / middle
    return float(simpson(np.clip(2 * norm.cdf(width) - 1, 0, 1) * chi.pdf(spread, degrees), x=spread))


@lru_cache(maxsize=1024)
def detectable(pairs: int, alpha: float = 0.05, target: float = 0.8) -> float:
    """The smallest effect, in standard deviations of the paired differences, that is detected with this power.

    Raises ValueError for fewer than 2 pairs, which have no spread to test against.

    >>> [round(detectable(n), 2) for n in (3, 4, 5, 6, 8, 10)]
    [3.26, 2.13, 1.68, 1.43, 1.16, 1.0]
    >>> round(detectable(4, alpha=0.005), 2)
    4.71
    """
    if pairs < 2:
        raise ValueError(f"{pairs} pair has no spread: at least 2 seeds are needed to detect anything")
    upper = 10 * t.isf(alpha / 2, pairs - 1)  # where the power is nearly 1
    return _root(lambda effect: paired_power(effect, pairs, alpha) - target, 1e-6, upper)


def seeds_needed(effect: float, alpha: float = 0.05, target: float = 0.8, most: int = MOST_SEEDS) -> int | None:
    """How many pairs detect an effect of so many standard deviations with the target power; None if more than `most`.

    >>> seeds_needed(1.0), seeds_needed(1.44), seeds_needed(0.0), seeds_needed(50.0, alpha=0.0005)
    (10, 6, None, 3)
    """
    return _first_seed_count(lambda pairs: paired_power(abs(effect), pairs, alpha) >= target, most)


def detectable_share(pairs: int, alpha: float = 0.05, target: float = 0.8) -> float:
    """The smallest difference of shares that an exact sign test detects with this power; infinite if there is none.

    P(D ≥ d) with D ~ Binomial(pairs, share) pairs that differ, all in one direction, and d the fewest with
    2 / 2^d ≤ α.

    >>> round(detectable_share(10), 2), detectable_share(5)
    (0.67, inf)
    """
    fewest = pairs_for_exact(alpha)
    if fewest > pairs:
        return float("inf")
    return _root(lambda share: float(binom.sf(fewest - 1, pairs, share)) - target, 0.0, 1.0)


def seeds_for_share(share: float, alpha: float = 0.05, target: float = 0.8, most: int = MOST_SEEDS) -> int | None:
    """How many pairs detect this difference of shares, as in `detectable_share`; None if more than `most`.

    >>> seeds_for_share(1.0), seeds_for_share(0.5), seeds_for_share(0.0)
    (6, 15, None)
    """
    fewest = pairs_for_exact(alpha)
    return _first_seed_count(lambda pairs: bool(binom.sf(fewest - 1, pairs, abs(share)) >= target), most)


def pairs_for_exact(alpha: float) -> int:
    """The fewest pairs n with which an exact sign test can reach p = 2 / 2ⁿ ≤ alpha.

    >>> pairs_for_exact(0.05), pairs_for_exact(0.05 / 10)
    (6, 9)
    """
    return ceil(log2(2 / alpha))


def seeds_to_equivalence(margin: float, alpha: float = 0.05, target: float = 0.8, most: int = MOST_SEEDS) -> int | None:
    """How many pairs show that an effect of 0 lies within this margin in standard deviations; None if more than `most`.

    >>> [seeds_to_equivalence(margin) for margin in (0.5, 1.0, 2.0)]
    [36, 11, 4]
    """
    return _first_seed_count(lambda pairs: equivalence_power(margin, pairs, alpha) >= target, most)


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    root: Any = brentq(function, low, high)  # its stubs do not say that this is a number
    return float(root)


def _first_seed_count(enough: Callable[[int], bool], most: int) -> int | None:
    """The fewest pairs, two or more, that are enough; None if `most` are not. `enough` must be monotonic."""
    if not enough(most):
        return None
    return bisect_left(range(most + 1), True, lo=2, key=enough)
