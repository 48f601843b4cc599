"""What a number of seeds can see.

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

MOST = 1000  # seeds that anybody would be told to run


def power(effect: float, pairs: int, alpha: float = 0.05) -> float:
    """The chance that a two-sided paired t-test at level `alpha` sees a difference of `effect` standard deviations.

    P(|Z + effect √n| > t_(1−α/2, n−1) · S), Z standard normal, S² a chi-square over its n − 1 degrees of freedom.

    >>> round(power(0.0, 8), 3), round(power(1.0, 10), 3)
    (0.05, 0.803)
    """
    degrees, shift = pairs - 1, effect * np.sqrt(pairs)
    middle = np.sqrt(degrees)
    spread = np.linspace(max(0.0, middle - 12), middle + 12, 4001)
    bar = t.isf(alpha / 2, degrees) * spread / middle
    return float(simpson((norm.sf(bar - shift) + norm.cdf(-bar - shift)) * chi.pdf(spread, degrees), x=spread))


def equivalence_power(margin: float, pairs: int, alpha: float = 0.05) -> float:
    """The chance that two one-sided paired t-tests find no effect to be within ± margin, in standard deviations.

    P(|Z| < √n · margin − t_(1−α, n−1) · S) with Z and S as in `power`.

    >>> equivalence_power(1.0, 10) < 0.8 < equivalence_power(1.0, 11)
    True
    """
    degrees = pairs - 1
    middle = np.sqrt(degrees)
    spread = np.linspace(max(0.0, middle - 12), middle + 12, 4001)
    room = np.sqrt(pairs) * margin - t.isf(alpha, degrees) * spread / middle
    return float(simpson(np.clip(2 * norm.cdf(room) - 1, 0, 1) * chi.pdf(spread, degrees), x=spread))


@lru_cache(maxsize=1024)
def detectable(pairs: int, alpha: float = 0.05, chance: float = 0.8) -> float:
    """The smallest difference, in standard deviations of the paired differences, that is seen with this chance.

    Raises ValueError for fewer than 2 pairs, which see nothing.

    >>> [round(detectable(n), 2) for n in (3, 4, 5, 6, 8, 10)]
    [3.26, 2.13, 1.68, 1.43, 1.16, 1.0]
    >>> round(detectable(4, alpha=0.005), 2)
    4.71
    """
    if pairs < 2:
        raise ValueError(f"{pairs} pair has no spread: at least 2 seeds are needed to see anything")
    beyond = 10 * t.isf(alpha / 2, pairs - 1)  # where nothing is missed
    root: Any = brentq(lambda effect: power(effect, pairs, alpha) - chance, 1e-6, beyond)
    return float(root)


def seeds_needed(effect: float, alpha: float = 0.05, chance: float = 0.8, most: int = MOST) -> int | None:
    """How many pairs see an effect of this many standard deviations; None if more than `most`.

    >>> seeds_needed(1.0), seeds_needed(1.44), seeds_needed(0.0), seeds_needed(50.0, alpha=0.0005)
    (10, 6, None, 3)
    """
    return _first(lambda pairs: power(abs(effect), pairs, alpha) >= chance, most)


def detectable_share(pairs: int, alpha: float = 0.05, chance: float = 0.8) -> float:
    """The smallest difference of shares that an exact sign test sees with this chance; infinite if there is none.

    P(D ≥ d) with D ~ Binomial(pairs, share) pairs that differ, all in one direction, and d the fewest with
    2 / 2^d ≤ α.

    >>> round(detectable_share(10), 2), detectable_share(5)
    (0.67, inf)
    """
    fewest = pairs_for_exact(alpha)
    if fewest > pairs:
        return float("inf")
    root: Any = brentq(lambda share: binom.sf(fewest - 1, pairs, share) - chance, 0.0, 1.0)
    return float(root)


def seeds_for_share(share: float, alpha: float = 0.05, chance: float = 0.8, most: int = MOST) -> int | None:
    """How many pairs see this difference of shares, as in `detectable_share`; None if more than `most`.

    >>> seeds_for_share(1.0), seeds_for_share(0.5), seeds_for_share(0.0)
    (6, 15, None)
    """
    fewest = pairs_for_exact(alpha)
    return _first(lambda pairs: bool(binom.sf(fewest - 1, pairs, abs(share)) >= chance), most)


def pairs_for_exact(alpha: float) -> int:
    """The fewest pairs of which an exact sign test can be below `alpha`: 2 / 2ⁿ.

    >>> pairs_for_exact(0.05), pairs_for_exact(0.05 / 10)
    (6, 9)
    """
    return ceil(log2(2 / alpha))


def seeds_to_equivalence(margin: float, alpha: float = 0.05, chance: float = 0.8, most: int = MOST) -> int | None:
    """How many pairs find no effect to be within this many standard deviations; None if more than `most`.

    >>> [seeds_to_equivalence(margin) for margin in (0.5, 1.0, 2.0)]
    [36, 11, 4]
    """
    return _first(lambda pairs: equivalence_power(margin, pairs, alpha) >= chance, most)


def _first(enough: Callable[[int], bool], most: int) -> int | None:
    """The fewest pairs, two or more, that are enough, where more are too; None if `most` are not."""
    return bisect_left(range(most + 1), True, lo=2, key=enough) if enough(most) else None
