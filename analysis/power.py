"""What a number of seeds can see.

The power of the paired t-test is integrated over the chi distribution of the standard deviation:
`scipy.stats.nct` gives NaN at large effects and statsmodels' solver goes wrong at tiny samples.
"""

from bisect import bisect_left
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.integrate import simpson
from scipy.optimize import brentq
from scipy.stats import chi, norm, t


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
    root: Any = brentq(lambda effect: power(effect, pairs, alpha) - chance, 1e-6, 1e3)
    return float(root)


def seeds_needed(effect: float, alpha: float = 0.05, chance: float = 0.8, most: int = 1000) -> int | None:
    """How many pairs see an effect of this many standard deviations; None if more than `most`.

    >>> seeds_needed(1.0), seeds_needed(1.44), seeds_needed(0.0)
    (10, 6, None)
    """
    size = abs(effect)
    if detectable(most, alpha, chance) > size:
        return None
    return bisect_left(range(most + 1), True, lo=2, key=lambda pairs: detectable(pairs, alpha, chance) <= size)


def seeds_to_equivalence(margin: float, alpha: float = 0.05, chance: float = 0.8, most: int = 1000) -> int | None:
    """How many pairs find no effect to be within this many standard deviations; None if more than `most`.

    >>> [seeds_to_equivalence(margin) for margin in (0.5, 1.0, 2.0)]
    [36, 11, 4]
    """
    if equivalence_power(margin, most, alpha) < chance:
        return None
    return bisect_left(range(most + 1), True, lo=2, key=lambda pairs: equivalence_power(margin, pairs, alpha) >= chance)
