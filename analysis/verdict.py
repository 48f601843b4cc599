"""Judge what was expected against what was found."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import pandas as pd

from analysis.effect import effects, equivalence
from analysis.frame import rows
from analysis.power import seeds_needed
from analysis.results import Results

ALPHA = 0.05
DIRECTIONS = ("lower", "higher", "same")


class Judgement(StrEnum):
    """What became of an expectation, or of a comparison that nobody had expectations of."""

    supported = "supported"
    contradicted = "contradicted"
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
    return [_judged(results, row) for row in rows(effects(results))]


def _judged(results: Results, row: Mapping[str, Any]) -> Verdict:
    study = results.study
    expected = study["expect"].get(row["arm"], {}).get(row["endpoint"], "")
    margin = study["margin"].get(row["endpoint"])
    table = results.endpoint(row["endpoint"], study["endpoints"][row["endpoint"]])
    within = margin is not None and (
        row["identical"] or equivalence(table[results.arms[0]], table[row["arm"]], margin) < ALPHA
    )
    judgement = judge(expected, row, within, margin)
    return Verdict(row, expected, judgement, sentence(row, judgement, within, margin, results.arms[0]))


def judge(expected: str, row: Mapping[str, Any], within: bool, margin: float | None) -> Judgement:
    """`lower` and `higher` need a Holm-corrected p below 0.05 with that sign, `same` an equivalence within the margin.

    A difference is contradicted by the opposite one, `same` by an interval that lies beyond the margin.
    """
    seen = row["p_holm"] < ALPHA or (row["deviation"] == 0 and row["effect"] != 0)
    direction = "higher" if row["effect"] > 0 else "lower"
    if expected == "same":
        beyond = margin is not None and (row["low"] > margin or row["high"] < -margin)
        return Judgement.supported if within else Judgement.contradicted if beyond else Judgement.undecided
    if expected and seen:
        return Judgement.supported if expected == direction else Judgement.contradicted
    if within:
        return Judgement.equivalent
    return Judgement.different if seen else Judgement.undecided


def sentence(row: Mapping[str, Any], judgement: Judgement, within: bool, margin: float | None, baseline: str) -> str:
    """The finding in words and numbers."""
    subject = f"{row['endpoint']} under {row['arm']}"
    if row["pairs"] == 0:
        return f"{subject}: no seed has both arms."
    if row["identical"]:
        return f"{subject} is identical to {baseline}'s under every seed."
    size = f"{abs(row['effect']):.3g} {row['unit']} {'higher' if row['effect'] > 0 else 'lower'} than under {baseline}"
    if pd.isna(row["low"]):
        return f"{subject} is {size}, in one seed; one seed has no interval."
    interval = f"95 % interval {row['low']:+.3g} to {row['high']:+.3g}, n = {row['pairs']}"
    return f"{subject} is {size} ({interval}){_ending(row, judgement, within, margin)}."


def _ending(row: Mapping[str, Any], judgement: Judgement, within: bool, margin: float | None) -> str:
    if within:
        return f": equivalent within ± {margin:g}"
    if judgement is not Judgement.undecided:
        return ""
    wanted = row["effect"] if margin is None else max(abs(row["effect"]), margin)
    seeds = seeds_needed(wanted / row["deviation"]) if row["deviation"] else None
    many = f"about {seeds}" if seeds else "more than 1000"
    return f": undecided; {many} seeds would see a difference of {abs(wanted):.2g}"


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
