"""Judge what was expected against what was found."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from analysis.effect import effects, equivalence
from analysis.frame import rows
from analysis.judgement import ALPHA, Judgement, judge
from analysis.results import Results
from analysis.sentence import Said, lost

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
    found = rows(effects(results))
    return [_judged(results, row, len(found)) for row in found]


def _judged(results: Results, row: Mapping[str, Any], family: int) -> Verdict:
    study = results.study
    wished = study["expect"].get(row["arm"], {}).get(row["endpoint"], "")
    margin = study["margin"].get(row["endpoint"])
    table = results.endpoints[row["endpoint"]]
    within = margin is not None and equivalence(table[results.arms[0]], table[row["arm"]], margin) < ALPHA
    judgement = judge(wished, row, within, margin)
    said = Said(row, judgement, wished, margin, results.arms[0], family)
    absent = "" if row["endpoint"] in COUNTED else lost(results, row["arm"])
    return Verdict(row, wished, judgement, f"{said.sentence()}{absent}")


def headline(results: Results, judged: list[Verdict]) -> str:
    """The whole study in one or a few sentences: what was expected of, and otherwise the first endpoint."""
    first = next(iter(results.study["endpoints"]))
    told = expected(judged) or [v for v in judged if v.effect["endpoint"] == first]
    return " ".join(v.sentence for v in told) or "There is only one arm, so there is nothing to compare."


def expected(judged: list[Verdict]) -> list[Verdict]:
    """Those of which the study had expected something."""
    return [verdict for verdict in judged if verdict.expected]


def worst(judged: list[Verdict]) -> str:
    """The judgement, among those of which something was expected, that deserves most attention; empty without any."""
    found = {verdict.judgement for verdict in expected(judged)}
    order = (Judgement.contradicted, Judgement.undecided, *Judgement)
    return next((str(judgement) for judgement in order if judgement in found), "")


def frame(judged: list[Verdict]) -> pd.DataFrame:
    """The verdicts as a table of effects with what was expected, the judgement and the sentence."""
    return pd.DataFrame(
        [{**v.effect, "expected": v.expected, "judgement": str(v.judgement), "sentence": v.sentence} for v in judged]
    )
