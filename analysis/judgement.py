"""What becomes of an expectation, by the numbers."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import numpy as np

ALPHA = 0.05


class Judgement(StrEnum):
    """What became of an expectation, or of a comparison that nobody had expectations of."""

    supported = "supported"
    contradicted = "contradicted"
    identical = "identical"
    equivalent = "equivalent"
    different = "different"
    undecided = "undecided"


def judge(expected: str, row: Mapping[str, Any], within: bool, margin: float | None) -> Judgement:
    """`lower` and `higher` need a Holm-corrected p below 0.05 with that sign, `same` an equivalence within the margin.

    A difference is contradicted by the opposite one, `same` by one whose whole interval lies beyond the margin.
    """
    seen, direction = row["p_holm"] < ALPHA, "higher" if row["effect"] > 0 else "lower"
    if row["identical"]:
        return Judgement.supported if expected == "same" else Judgement.identical
    if expected == "same":
        nearest = np.nanmin(np.abs([row["low"], row["high"], row["effect"]]))
        beyond = margin is not None and seen and nearest > margin
        return Judgement.supported if within else Judgement.contradicted if beyond else Judgement.undecided
    if expected and seen:
        return Judgement.supported if expected == direction else Judgement.contradicted
    if within:
        return Judgement.equivalent
    return Judgement.different if seen else Judgement.undecided
