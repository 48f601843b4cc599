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
    incomparable = "incomparable"


def judge(expected: str, effect: PairedEffect, within: bool, margin: float | None) -> Judgement:
    """`lower` and `higher` need a Holm-corrected p below 0.05 with that sign, `same` an equivalence within the margin.

    A difference is contradicted by the opposite one, `same` by one whose whole interval lies beyond the margin.
    `within` says whether the equivalence test succeeded. Values that measure different things are `incomparable`,
    whatever was expected.
    """
    if effect.incomparable:
        return Judgement.incomparable
    significant, direction = effect.p_holm < ALPHA, "higher" if effect.effect > 0 else "lower"
    if effect.identical:
        return Judgement.supported if expected == "same" else Judgement.identical
    if expected == "same":
        return Judgement.supported if within else _judge_no_equivalence(effect, margin)
    if expected and significant:
        return Judgement.supported if expected == direction else Judgement.contradicted
    if within:
        return Judgement.equivalent
    return Judgement.different if significant else Judgement.undecided


def _judge_no_equivalence(effect: PairedEffect, margin: float | None) -> Judgement:
    """`same` was expected and not shown: contradicted only if the whole interval lies beyond the margin."""
    nearest = np.nanmin(np.abs([effect.low, effect.high, effect.effect]))
    beyond = margin is not None and effect.p_holm < ALPHA and nearest > margin
    return Judgement.contradicted if beyond else Judgement.undecided
