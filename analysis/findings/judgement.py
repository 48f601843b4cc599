"""The outcome of an expectation, decided by numbers."""

from enum import StrEnum

import numpy as np

from analysis.tables.columns import PairedEffect

ALPHA = 0.05


class Judgement(StrEnum):
    """The outcome of an expectation, or of a comparison without one."""

    supported = "supported"
    contradicted = "contradicted"
    identical = "identical"
    equivalent = "equivalent"
    different = "different"
    undecided = "undecided"


def judge(expected: str, effect: PairedEffect, within: bool, margin: float | None) -> Judgement:
    """`lower` and `higher` need a Holm-corrected p below 0.05 with that sign, `same` an equivalence within the margin.

    A difference is contradicted by the opposite one, `same` by one whose whole interval lies beyond the margin.
    `within` says whether the equivalence test succeeded.
    """
    significant, direction = effect.p_holm < ALPHA, "higher" if effect.effect > 0 else "lower"
    if effect.identical:
        return Judgement.supported if expected == "same" else Judgement.identical
    if expected == "same":
        nearest = np.nanmin(np.abs([effect.low, effect.high, effect.effect]))
        if within:
            return Judgement.supported
        beyond = margin is not None and significant and nearest > margin
        return Judgement.contradicted if beyond else Judgement.undecided
    if expected and significant:
        return Judgement.supported if expected == direction else Judgement.contradicted
    if within:
        return Judgement.equivalent
    return Judgement.different if significant else Judgement.undecided
