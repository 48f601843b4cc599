"""Judge what was expected against what was found."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from analysis.findings.judgement import ALPHA, Judgement, judge
from analysis.findings.sentence import FindingSentence, divergence_note
from analysis.statistics.effects import equivalence_p, paired_effects
from analysis.tables.columns import as_rows
from analysis.tables.results import Results

COUNTED = ("diverged", "solved", "steps_to_solve")  # endpoints in which a diverged trial counts


@dataclass(frozen=True)
class Verdict:
    """One arm on one endpoint: the effect, what was expected of it, the judgement, and a sentence to quote."""

    effect: Mapping[str, Any]
    expected: str
    judgement: Judgement
    sentence: str


def verdicts(results: Results) -> list[Verdict]:
    """One for each row of `effects`, in its order."""
    found = as_rows(paired_effects(results))
    family = max(1, sum(not row["incomparable"] for row in found))
    return [_judge_row(results, row, family) for row in found]


def _judge_row(results: Results, row: Mapping[str, Any], family: int) -> Verdict:
    study = results.study
    wished = study["expect"].get(row["arm"], {}).get(row["endpoint"], "")
    margin = study["margin"].get(row["endpoint"])
    table = results.endpoints[row["endpoint"]]
    within = margin is not None and equivalence_p(table[results.arms[0]], table[row["arm"]], margin) < ALPHA
    judgement = judge(wished, row, within, margin)
    said = FindingSentence(row, judgement, wished, margin, results.arms[0], family)
    absent = "" if row["endpoint"] in COUNTED else divergence_note(results, row["arm"])
    return Verdict(row, wished, judgement, f"{said.text()}{absent}")


def headline(results: Results, judged: list[Verdict]) -> str:
    """The whole study in one or a few sentences: what was expected of, and otherwise the first endpoint."""
    first = next(iter(results.study["endpoints"]))
    told = with_expectation(judged) or [v for v in judged if v.effect["endpoint"] == first]
    return " ".join(v.sentence for v in told) or "There is only one arm, so there is nothing to compare."


def with_expectation(judged: list[Verdict]) -> list[Verdict]:
    """Those of which the study had expected something."""
    return [verdict for verdict in judged if verdict.expected]


def worst_judgement(judged: list[Verdict]) -> str:
    """The judgement, among those of which something was expected, that deserves most attention; empty without any."""
    found = {verdict.judgement for verdict in with_expectation(judged)}
    order = (Judgement.contradicted, Judgement.incomparable, Judgement.undecided, *Judgement)
    return next((str(judgement) for judgement in order if judgement in found), "")


def verdict_table(judged: list[Verdict]) -> pd.DataFrame:
    """The verdicts as a table of effects with what was expected, the judgement and the sentence."""
    return pd.DataFrame(
        [{**v.effect, "expected": v.expected, "judgement": str(v.judgement), "sentence": v.sentence} for v in judged]
    )
