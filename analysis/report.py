"""A study's page: one HTML file that needs nothing else, and the same in Markdown."""

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from analysis import contents, heat, limits, maps, plots, rates, sensitivity, words
from analysis.depth import layer_profiles
from analysis.factors import factorial_effects
from analysis.files import write_text
from analysis.frame import as_rows
from analysis.overview import page_name, write_overview
from analysis.paper import write_paper
from analysis.render import render
from analysis.results import Results, load, read_results, study_names
from analysis.sites import site_matrices
from analysis.verdict import Verdict, headline, verdict_table, verdicts, worst_judgement

FORMATS = ("page", "paper")
INDEX = "index"  # the page of all studies


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
    told = words.verdict_lines(judged) if judged else words.value_lines(shown["absolute"])
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
        "forests": {
            e: plots.svg(plots.forest_plot(effects, e, results.arms, study["margin"].get(e))) for e in compared
        },
        "curves": {measure: plots.svg(plots.curve_plot(results, measure)) for measure in measures},
        "depths": plots.svg(heat.layer_heatmap(results, layered)) if layered else "",
        "sites": {kind: plots.svg(heat.site_heatmap(found)) for kind, found in site_matrices(results).items()},
        "costly": {e: plots.svg(plots.cost_plot(results, effects, e)) for e in list(compared)[:1]},
        **factorial_contents(results),
        "rates": rates.divergence_rates(results),
        "solving": rates.times_to_solve(results),
        "maps": maps.study_maps(results),
        "exclusions": contents.effects_with_excluded(results),
        "absolute": contents.arm_values(results),
        "costs": contents.arm_costs(results),
        "differences": contents.settings_that_differ(results),
        "pairing": contents.pairing_sentence(results),
        "missing": limits.missing_data(results),
        "unproven": limits.not_shown(results, judged),
        "provenance": contents.trial_environments(results),
    }


def factorial_contents(results: Results) -> dict[str, Any]:
    """What several factors do together, and what the learning rate does, where a study has them."""
    found, swept = factorial_effects(results), sensitivity.learning_rate_curves(results)
    crossed = [factor for factor in results.study["factors"] if len(found)][:2]
    drawn = {e: plots.svg(plots.interaction_plot(results, e, crossed)) for e in results.endpoints if len(crossed) == 2}
    return {
        "factorial": as_rows(found),
        "interactions": drawn,
        "sensitivities": sensitivity.sensitivities(results),
        "learning_rates": plots.svg(plots.learning_rate_plot(swept)) if len(swept) else "",
    }


def maps_page(trial: str, named: Iterable[tuple[str, Path]]) -> str:
    """A page of one trial's attention maps, each under its name."""
    shown = [maps.DrawnMap.of(name, path) for name, path in named]
    return render("maps.html", {"trial": trial, "maps": shown})


def main(arguments: list[str]) -> None:
    """`knockout report [STUDY …] [--results FOLDER]`: write pages again, print verdicts and paths.

    Raises FileNotFoundError for a study there is not, and for a results folder without any.
    """
    parser = argparse.ArgumentParser("knockout report", description="Write pages again from the results folder.")
    parser.add_argument(
        "studies", nargs="*", help="their names: folders in RESULTS/studies (default: all); several get one page too"
    )
    parser.add_argument("--results", default="results", help="the results folder (default: results)")
    parser.add_argument("--format", default="page", choices=FORMATS, help="page, or paper: LaTeX, PDF, BibTeX")
    given = parser.parse_args(arguments)
    studies = [load(given.results, name) for name in dict.fromkeys(given.studies or study_names(given.results))]
    for study in studies:
        path, verdict = write_page(study)
        print(f"{verdict}\nreport: {path.absolute()}")
        if given.format == "paper":
            print(f"paper: {write_paper(study.home).absolute()}")
    if len(studies) > 1 or not given.studies:
        print(_write_overview(studies, bool(given.studies)))


def _write_overview(studies: Sequence[Results], chosen: bool) -> str:
    """Write the page of several studies, or that of all but those in which arms only chose something."""
    if chosen:
        return f"these {len(studies)} studies: {write_overview(studies, page_name(studies)).absolute()}"
    choosing = {study.study.get("tuning") for study in studies}
    asked = [study for study in studies if study.study["name"] not in choosing]
    return f"all studies: {write_overview(asked, INDEX).absolute()}"
