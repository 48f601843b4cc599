"""A study's page: one HTML file that needs no other file, and the same in Markdown."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from analysis.findings.disclosures import ExclusionEffect, effects_with_excluded, missing_data, not_shown
from analysis.findings.pairing import pairing_sentence
from analysis.findings.verdict import Verdict, headline, verdict_table, verdicts, worst_judgement
from analysis.page.attention_maps import DrawnMap, study_maps
from analysis.page.format import value_lines, verdict_lines
from analysis.page.heatmaps import layer_heatmap, site_heatmap
from analysis.page.plots import (
    cost_plot,
    curve_plot,
    effects_by_endpoint,
    forest_plot,
    interaction_plot,
    learning_rate_plot,
    svg,
)
from analysis.page.render import render
from analysis.record.files import write_text
from analysis.record.layout import EFFECTS, MARKDOWN, PAGE, VERDICTS
from analysis.record.plain import JsonValue
from analysis.record.study_file import StudyRecord
from analysis.statistics.factorial import FactorialEffect, factorial_effects
from analysis.statistics.interventions import site_matrices
from analysis.statistics.layers import layer_profiles
from analysis.statistics.learning_rate import RateSensitivity, learning_rate_curves, sensitivities
from analysis.statistics.rates import ArmSolvingTime, OutcomeRate, outcome_rates, times_to_solve
from analysis.statistics.summary import (
    ArmCost,
    ArmValue,
    arm_costs,
    arm_values,
    settings_that_differ,
    trial_environments,
)
from analysis.tables.results import Results, read_results


@dataclass(frozen=True)
class Drawings:
    """The figures of a page as SVG, by endpoint, measure or kind; "" where the study has no such figure."""

    forests: dict[str, str]
    curves: dict[str, str]
    costs: dict[str, str]
    interactions: dict[str, str]
    sites: dict[str, str]
    layers: str
    learning_rates: str


@dataclass(frozen=True)
class PageContents:
    """All words, numbers and drawings of a page, by the names that the templates use."""

    study: StudyRecord
    headline: str
    worst: str
    verdicts: list[Verdict]
    bootstrapped: bool
    drawings: Drawings
    factorial: list[FactorialEffect]
    sensitivities: list[RateSensitivity]
    rates: list[OutcomeRate]
    solving: list[ArmSolvingTime]
    maps: list[DrawnMap]
    exclusions: list[ExclusionEffect]
    values: list[ArmValue]
    costs: list[ArmCost]
    differences: dict[str, list[JsonValue]]
    pairing: str
    missing: list[str]
    not_shown: list[str]
    provenance: dict[str, str]


def write_report(home: Path) -> tuple[Path, str]:
    """Write `report.html`, `report.md`, `effects.csv` and `verdicts.txt` into a study's folder.

    Returns the path of the page and the verdicts as lines. The same folder gives the same bytes.
    """
    return write_page(read_results(home))


def write_page(results: Results) -> tuple[Path, str]:
    """`write_report` for results that are already read."""
    home, judged = results.home, verdicts(results)
    contents = vars(page_contents(results, judged))
    for name in (PAGE, MARKDOWN):
        write_text(home / name, render(name, contents))
    write_text(home / EFFECTS, verdict_table(judged).to_csv(index=False))
    lines = verdict_lines(judged) if judged else value_lines(arm_values(results))
    write_text(home / VERDICTS, f"{lines}\n")
    return home / PAGE, lines


def page_contents(results: Results, judged: list[Verdict]) -> PageContents:
    """The contents of a study's page."""
    return PageContents(
        study=results.study,
        headline=headline(results, judged),
        worst=worst_judgement(judged),
        verdicts=judged,
        bootstrapped=any(pd.notna(verdict.effect.bca_low) for verdict in judged),
        drawings=page_drawings(results, judged),
        factorial=factorial_effects(results),
        sensitivities=sensitivities(learning_rate_curves(results)),
        rates=outcome_rates(results),
        solving=times_to_solve(results),
        maps=study_maps(results),
        exclusions=effects_with_excluded(results),
        values=arm_values(results),
        costs=arm_costs(results),
        differences=settings_that_differ(results),
        pairing=pairing_sentence(results),
        missing=missing_data(results),
        not_shown=not_shown(results, judged),
        provenance=trial_environments(results),
    )


def page_drawings(results: Results, judged: list[Verdict]) -> Drawings:
    """The drawings of a study's page."""
    study, arms = results.study, results.arms
    effects = effects_by_endpoint(verdict.effect for verdict in judged)
    measures = [name for name in dict.fromkeys([*study.endpoints, "train/loss"]) if name in results.measures.index]
    profiles, points = layer_profiles(results), learning_rate_curves(results)
    first = dict(list(effects.items())[:1])
    return Drawings(
        forests={name: svg(forest_plot(rows, arms, study.margin.get(name))) for name, rows in effects.items()},
        curves={measure: svg(curve_plot(results, measure)) for measure in measures},
        costs={name: svg(cost_plot(results, rows)) for name, rows in first.items()},
        interactions=_interaction_drawings(results),
        sites={kind: svg(site_heatmap(matrix)) for kind, matrix in site_matrices(results).items()},
        layers=svg(layer_heatmap(results, profiles)) if profiles else "",
        learning_rates=svg(learning_rate_plot(points)) if points else "",
    )


def _interaction_drawings(results: Results) -> dict[str, str]:
    """The first two factors of a factorial study, by endpoint."""
    factors = results.study.factors
    if len(factors) < 2 or not factorial_effects(results):
        return {}
    pair = factors[0], factors[1]
    return {endpoint: svg(interaction_plot(results, endpoint, pair)) for endpoint in results.endpoints}


def maps_page(trial: str, named: Iterable[tuple[str, Path]]) -> str:
    """A page of one trial's attention maps, each under its name."""
    return render("maps.html", {"trial": trial, "maps": [DrawnMap.of(name, path) for name, path in named]})
