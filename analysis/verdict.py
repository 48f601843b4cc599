"""Judge what was expected against what was found."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import pandas as pd

from analysis.effect import effects, equivalence
from analysis.frame import rows
from analysis.power import seeds_needed, seeds_to_equivalence
from analysis.results import Results

ALPHA = 0.05


class Judgement(StrEnum):
    """What became of an expectation, or of a comparison that nobody had expectations of."""

    supported = "supported"
    contradicted = "contradicted"
    identical = "identical"
    equivalent = "equivalent"
    different = "different"
    undecided = "undecided"


@dataclass(frozen=True)
class Verdict:
    """One arm on one endpoint: the effect, what was expected of it, the judgement, and a sentence to quote."""

    effect: Mapping[str, Any]
    expected: str
    judgement: Judgement
    sentence: str


def verdicts(results: Results) -> list[Verdict]:
    """One for each row of `effects`, in its order."""
    found = rows(effects(results))
    return [_judged(results, row, len(found)) for row in found]


def _judged(results: Results, row: Mapping[str, Any], family: int) -> Verdict:
    study = results.study
    expected = study["expect"].get(row["arm"], {}).get(row["endpoint"], "")
    margin = study["margin"].get(row["endpoint"])
    table = results.endpoints[row["endpoint"]]
    within = margin is not None and equivalence(table[results.arms[0]], table[row["arm"]], margin) < ALPHA
    judgement = judge(expected, row, within, margin)
    return Verdict(row, expected, judgement, sentence(row, judgement, expected, margin, results.arms[0], family))


def judge(expected: str, row: Mapping[str, Any], within: bool, margin: float | None) -> Judgement:
    """`lower` and `higher` need a Holm-corrected p below 0.05 with that sign, `same` an equivalence within the margin.

    A difference is contradicted by the opposite one, `same` by an interval that lies beyond the margin.
    """
    seen, direction = row["p_holm"] < ALPHA, "higher" if row["effect"] > 0 else "lower"
    if row["identical"]:
        return Judgement.supported if expected == "same" else Judgement.identical
    if expected == "same":
        beyond = margin is not None and (row["low"] > margin or row["high"] < -margin)
        return Judgement.supported if within else Judgement.contradicted if beyond else Judgement.undecided
    if expected and seen:
        return Judgement.supported if expected == direction else Judgement.contradicted
    if within:
        return Judgement.equivalent
    return Judgement.different if seen else Judgement.undecided


def sentence(
    row: Mapping[str, Any], judgement: Judgement, expected: str, margin: float | None, baseline: str, family: int
) -> str:
    """The finding in words and numbers."""
    subject = f"{row['endpoint']} under {row['arm']}"
    if row["pairs"] == 0:
        return f"{subject}: no seed has it in both arms."
    if row["identical"]:
        return f"{subject} is identical to {baseline}'s under every seed (n = {row['pairs']})."
    size = f"{abs(row['effect']):.3g} {row['unit']} {'higher' if row['effect'] > 0 else 'lower'} than under {baseline}"
    if row["pairs"] == 1:
        return f"{subject} is {size}, in one seed; one seed has no interval."
    between = (
        f"95 % interval {row['low']:+.3g} to {row['high']:+.3g}" if pd.notna(row["low"]) else "the same in each seed"
    )
    return f"{subject} is {size} ({between}, n = {row['pairs']}){_ending(row, judgement, expected, margin, family)}."


def _ending(row: Mapping[str, Any], judgement: Judgement, expected: str, margin: float | None, family: int) -> str:
    """What the judgement rests on where the interval alone does not say it."""
    same = expected == "same" and judgement is Judgement.supported
    if judgement is Judgement.equivalent or same:
        return f": equivalent within ± {margin:g}"
    return f": undecided{_wanted(row, expected, margin, family)}" if judgement is Judgement.undecided else ""


def _wanted(row: Mapping[str, Any], expected: str, margin: float | None, family: int) -> str:
    """How many seeds would decide, where that is more than there are."""
    if not row["deviation"]:
        return ""
    if expected == "same" and margin is not None:
        seeds, what = seeds_to_equivalence(margin / row["deviation"]), f"show equivalence within ± {margin:g}"
    else:
        size = max(abs(row["effect"]), margin or 0.0)
        seeds, what = seeds_needed(size / row["deviation"], ALPHA / family), f"show a difference of {size:.2g}"
    if seeds is not None and seeds <= row["pairs"]:
        return ""
    return f"; {f'about {seeds}' if seeds else 'more than 1000'} seeds would {what}"


def headline(results: Results, judged: list[Verdict]) -> str:
    """The whole study in one or a few sentences: what was expected of, and otherwise the first endpoint."""
    first = next(iter(results.study["endpoints"]))
    named = [v for v in judged if v.expected] or [v for v in judged if v.effect["endpoint"] == first]
    return " ".join(v.sentence for v in named) or "There is only one arm, so there is nothing to compare."


def frame(judged: list[Verdict]) -> pd.DataFrame:
    """The verdicts as a table of effects with what was expected, the judgement and the sentence."""
    return pd.DataFrame(
        [{**v.effect, "expected": v.expected, "judgement": str(v.judgement), "sentence": v.sentence} for v in judged]
    )
