"""A study's page: one HTML file that needs nothing else, and the same in Markdown."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd

from analysis.findings.disclosures import effects_with_excluded, missing_data, not_shown
from analysis.findings.pairing import pairing_sentence
from analysis.findings.verdict import Verdict, headline, verdict_table, verdicts, worst_judgement
from analysis.page import attention_maps as maps
from analysis.page.format import value_lines, verdict_lines
from analysis.page.heatmaps import layer_heatmap, site_heatmap
from analysis.page.plots import cost_plot, curve_plot, forest_plot, interaction_plot, learning_rate_plot, svg
from analysis.page.render import render
from analysis.record.files import write_text
from analysis.statistics import rates
from analysis.statistics.factorial import factorial_effects
from analysis.statistics.interventions import site_matrices
from analysis.statistics.layers import layer_profiles
from analysis.statistics.learning_rate import learning_rate_curves, sensitivities
from analysis.statistics.summary import arm_costs, arm_values, settings_that_differ, trial_environments
from analysis.tables.columns import as_rows
from analysis.tables.results import Results, read_results


def write_report(home: Path) -> tuple[Path, str]:
    """Write `report.html`, `report.md`, `effects.csv` and `verdicts.txt` into a study's folder; the page, and verdicts.

    The same folder gives the same bytes.
    """
    return write_page(read_results(home))


def write_page(results: Results) -> tuple[Path, str]:
    """The same for a study that has been read."""
    home, judged = results.home, verdicts(results)
    shown = page_contents(results, judged)
    for suffix in ("html", "md"):
        write_text(home / f"report.{suffix}", render(f"report.{suffix}", shown))
    write_text(home / "effects.csv", verdict_table(judged).to_csv(index=False))
    told = verdict_lines(judged) if judged else value_lines(shown["absolute"])
    write_text(home / "verdicts.txt", f"{told}\n")
    return home / "report.html", told


def page_contents(results: Results, judged: list[Verdict]) -> dict[str, Any]:
    """All that a page shows: words, numbers and drawings."""
    study, effects = results.study, verdict_table(judged)
    measures = [name for name in dict.fromkeys([*study["endpoints"], "train/loss"]) if name in results.measures.index]
    compared, layered = study["endpoints"] if judged else [], layer_profiles(results)
    return {
        "study": study,
        "headline": headline(results, judged),
        "worst": worst_judgement(judged),
        "verdicts": judged,
        "resampled": any(pd.notna(verdict.effect["bca_low"]) for verdict in judged),
        "forests": {e: svg(forest_plot(effects, e, results.arms, study["margin"].get(e))) for e in compared},
        "curves": {measure: svg(curve_plot(results, measure)) for measure in measures},
        "depths": svg(layer_heatmap(results, layered)) if layered else "",
        "sites": {kind: svg(site_heatmap(found)) for kind, found in site_matrices(results).items()},
        "costly": {e: svg(cost_plot(results, effects, e)) for e in list(compared)[:1]},
        **factorial_contents(results),
        "rates": rates.divergence_rates(results),
        "solving": rates.times_to_solve(results),
        "maps": maps.study_maps(results),
        "exclusions": effects_with_excluded(results),
        "absolute": arm_values(results),
        "costs": arm_costs(results),
        "differences": settings_that_differ(results),
        "pairing": pairing_sentence(results),
        "missing": missing_data(results),
        "unproven": not_shown(results, judged),
        "provenance": trial_environments(results),
    }


def factorial_contents(results: Results) -> dict[str, Any]:
    """What several factors do together, and what the learning rate does, where a study has them."""
    found, swept = factorial_effects(results), learning_rate_curves(results)
    crossed = [factor for factor in results.study["factors"] if len(found)][:2]
    drawn = {e: svg(interaction_plot(results, e, crossed)) for e in results.endpoints if len(crossed) == 2}
    return {
        "factorial": as_rows(found),
        "interactions": drawn,
        "sensitivities": sensitivities(results),
        "learning_rates": svg(learning_rate_plot(swept)) if len(swept) else "",
    }


def maps_page(trial: str, named: Iterable[tuple[str, Path]]) -> str:
    """A page of one trial's attention maps, each under its name."""
    shown = [maps.DrawnMap.of(name, path) for name, path in named]
    return render("maps.html", {"trial": trial, "maps": shown})
