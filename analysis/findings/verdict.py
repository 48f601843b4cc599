"""Judge the expectations of a study by its effects."""

from collections.abc import Iterable
from dataclasses import dataclass

import pandas as pd

from analysis.findings.judgement import ALPHA, Judgement, judge
from analysis.findings.sentence import FindingSentence, divergence_note
from analysis.statistics.effects import equivalence_p, paired_effects
from analysis.tables.columns import Effect, effects_frame
from analysis.tables.results import Results

COUNTED = ("diverged", "solved", "steps_to_solve")  # endpoints in which a diverged trial counts


@dataclass(frozen=True)
class Verdict:
    """One arm on one endpoint: the effect, the expectation (or ""), the judgement, and a sentence to quote."""

    effect: Effect
    expected: str
    judgement: Judgement
    sentence: str


def verdicts(results: Results) -> list[Verdict]:
    """One for each of `paired_effects`, in its order."""
    effects = paired_effects(results)
    family = max(1, sum(not effect.incomparable for effect in effects))
    return [_judge_effect(results, effect, family) for effect in effects]


def _judge_effect(results: Results, effect: Effect, family: int) -> Verdict:
    study, arm, endpoint = results.study, effect.arm, effect.endpoint
    expected, margin = study.expect.get(arm, {}).get(endpoint, ""), study.margin.get(endpoint)
    table = results.endpoints[endpoint]
    within = margin is not None and equivalence_p(table[results.arms[0]], table[arm], margin) < ALPHA
    judgement = judge(expected, effect, within, margin)
    sentence = FindingSentence(effect, judgement, expected, margin, results.arms[0], family).text()
    if endpoint not in COUNTED:
        sentence += divergence_note(results, arm)
    return Verdict(effect, expected, judgement, sentence)


def headline(results: Results, judged: list[Verdict]) -> str:
    """The verdicts on expectations, or on the first endpoint if the study expects nothing, as a few sentences."""
    first = next(iter(results.study.endpoints))
    leading = with_expectation(judged) or [verdict for verdict in judged if verdict.effect.endpoint == first]
    return " ".join(v.sentence for v in leading) or "The study has only one arm, so there is nothing to compare."


def with_expectation(judged: list[Verdict]) -> list[Verdict]:
    """The verdicts on expectations of the study."""
    return [verdict for verdict in judged if verdict.expected]


def worst_judgement(judged: list[Verdict]) -> str:
    """The judgement of an expectation that deserves most attention; empty without expectations."""
    judgements = {verdict.judgement for verdict in with_expectation(judged)}
    order = (Judgement.contradicted, Judgement.incomparable, Judgement.undecided, *Judgement)
    return next((str(judgement) for judgement in order if judgement in judgements), "")


def verdict_table(judged: Iterable[Verdict]) -> pd.DataFrame:
    """One row per effect, with the columns expected, judgement and sentence at the end."""
    rows = list(judged)
    return effects_frame(verdict.effect for verdict in rows).assign(
        expected=[verdict.expected for verdict in rows],
        judgement=[str(verdict.judgement) for verdict in rows],
        sentence=[verdict.sentence for verdict in rows],
    )
