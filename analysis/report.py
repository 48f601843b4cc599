"""A study's page: one HTML file that needs nothing else, and the same in Markdown."""

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from analysis import contents, heat, limits, maps, plots, rates, sensitivity, words
from analysis.depth import profiles
from analysis.factors import factorial
from analysis.files import write
from analysis.frame import rows
from analysis.overview import named, write_overview
from analysis.paper import write_paper
from analysis.render import render
from analysis.results import Results, load, names, opened
from analysis.sites import matrices
from analysis.verdict import Verdict, frame, headline, verdicts, worst

FORMATS = ("page", "paper")
INDEX = "index"  # the page of all studies


def write_report(home: Path) -> tuple[Path, str]:
    """Write `report.html`, `report.md`, `effects.csv` and `verdicts.txt` into a study's folder; the page, and verdicts.

    The same folder gives the same bytes.
    """
    return write_page(opened(home))


def write_page(results: Results) -> tuple[Path, str]:
    """The same for a study that has been read."""
    home, judged = results.home, verdicts(results)
    shown = page(results, judged)
    for suffix in ("html", "md"):
        write(home / f"report.{suffix}", render(f"report.{suffix}", shown))
    write(home / "effects.csv", frame(judged).to_csv(index=False))
    told = words.table(judged) if judged else words.values(shown["absolute"])
    write(home / "verdicts.txt", f"{told}\n")
    return home / "report.html", told


def page(results: Results, judged: list[Verdict]) -> dict[str, Any]:
    """All that a page shows: words, numbers and drawings."""
    study, effects = results.study, frame(judged)
    measures = [name for name in dict.fromkeys([*study["endpoints"], "train/loss"]) if name in results.measures.index]
    compared, layered = study["endpoints"] if judged else [], profiles(results)
    return {
        "study": study,
        "headline": headline(results, judged),
        "worst": worst(judged),
        "verdicts": judged,
        "resampled": any(pd.notna(verdict.effect["bca_low"]) for verdict in judged),
        "forests": {e: plots.svg(plots.forest(effects, e, results.arms, study["margin"].get(e))) for e in compared},
        "curves": {measure: plots.svg(plots.curves(results, measure)) for measure in measures},
        "depths": plots.svg(heat.depths(results, layered)) if layered else "",
        "sites": {kind: plots.svg(heat.sites(found)) for kind, found in matrices(results).items()},
        "costly": {e: plots.svg(plots.cost_and_effect(results, effects, e)) for e in list(compared)[:1]},
        **together(results),
        "rates": rates.rates(results),
        "solving": rates.solving(results),
        "maps": maps.of(results),
        "exclusions": contents.exclusions(results),
        "absolute": contents.absolute(results),
        "costs": contents.costs(results),
        "differences": contents.differences(results),
        "pairing": contents.pairing(results),
        "missing": limits.missing(results),
        "unproven": limits.unproven(results, judged),
        "provenance": contents.provenance(results),
    }


def together(results: Results) -> dict[str, Any]:
    """What several factors do together, and what the learning rate does, where a study has them."""
    found, swept = factorial(results), sensitivity.curves(results)
    crossed = [factor for factor in results.study["factors"] if len(found)][:2]
    drawn = {e: plots.svg(plots.interactions(results, e, crossed)) for e in results.endpoints if len(crossed) == 2}
    return {
        "factorial": rows(found),
        "interactions": drawn,
        "sensitivities": sensitivity.sensitivities(results),
        "learning_rates": plots.svg(plots.learning_rates(swept)) if len(swept) else "",
    }


def maps_page(trial: str, named: Iterable[tuple[str, Path]]) -> str:
    """A page of one trial's attention maps, each under its name."""
    shown = [maps.Shown.of(name, path) for name, path in named]
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
    studies = [load(given.results, name) for name in dict.fromkeys(given.studies or names(given.results))]
    for study in studies:
        path, verdict = write_page(study)
        print(f"{verdict}\nreport: {path.absolute()}")
        if given.format == "paper":
            print(f"paper: {write_paper(study.home).absolute()}")
    if len(studies) > 1 or not given.studies:
        print(_together(studies, bool(given.studies)))


def _together(studies: Sequence[Results], chosen: bool) -> str:
    """Write the page of several studies, or that of all but those in which arms only chose something."""
    if chosen:
        return f"these {len(studies)} studies: {write_overview(studies, named(studies)).absolute()}"
    choosing = {study.study.get("tuning") for study in studies}
    asked = [study for study in studies if study.study["name"] not in choosing]
    return f"all studies: {write_overview(asked, INDEX).absolute()}"
