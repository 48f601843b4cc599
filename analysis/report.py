"""A study's page: one HTML file that needs nothing else, and the same in Markdown."""

import argparse
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from analysis import contents, heat, maps, plots, rates, sensitivity, words
from analysis.depth import families
from analysis.factors import factorial
from analysis.frame import rows
from analysis.paper import write_paper
from analysis.results import Results, load, names, opened
from analysis.sites import matrices
from analysis.verdict import Verdict, frame, headline, verdicts

FORMATS = ("page", "paper")


def write_report(home: Path) -> tuple[Path, str]:
    """Write `report.html`, `report.md`, `effects.csv` and `verdicts.txt` into a study's folder; the page, and verdicts.

    The same folder gives the same bytes.
    """
    results = opened(home)
    judged = verdicts(results)
    shown = page(results, judged)
    for suffix in ("html", "md"):
        text = environment().get_template(f"report.{suffix}.jinja").render(shown)
        _put(home / f"report.{suffix}", text)
    _put(home / "effects.csv", frame(judged).to_csv(index=False))
    told = words.table(judged) if judged else words.values(shown["absolute"])
    _put(home / "verdicts.txt", f"{told}\n")
    return home / "report.html", told


def _put(path: Path, text: str) -> None:
    """The whole file at once, whoever else reads or writes it."""
    with tempfile.NamedTemporaryFile("w", dir=path.parent, delete=False, encoding="utf-8", newline="") as part:
        part.write(text)
    Path(part.name).chmod(0o644)
    Path(part.name).replace(path)


def page(results: Results, judged: list[Verdict]) -> dict[str, Any]:
    """All that a page shows: words, numbers and drawings."""
    study, effects = results.study, frame(judged)
    measures = [name for name in dict.fromkeys([*study["endpoints"], "train/loss"]) if name in results.measures.index]
    compared = study["endpoints"] if judged else []
    return {
        "study": study,
        "headline": headline(results, judged),
        "verdicts": judged,
        "forests": {e: plots.svg(plots.forest(effects, e, results.arms, study["margin"].get(e))) for e in compared},
        "curves": {measure: plots.svg(plots.curves(results, measure)) for measure in measures},
        "depths": plots.svg(heat.depths(results)) if families(results) else "",
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
        "missing": contents.missing(results),
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
    return environment().get_template("maps.html.jinja").render(trial=trial, maps=shown)


def environment() -> Environment:
    """The templates; HTML escapes whatever a user can name, Markdown through the filter `cell`."""
    made = Environment(
        loader=PackageLoader("analysis"),
        autoescape=lambda name: bool(name and ".html" in name),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"signed": words.signed, "plain": words.plain, "cell": words.cell}
    return made


def main(arguments: list[str]) -> None:
    """`knockout report [STUDY …] [--results FOLDER]`: write pages again, print verdicts and paths.

    Raises FileNotFoundError for a study there is not, and for a results folder without any.
    """
    parser = argparse.ArgumentParser("knockout report", description="Write pages again from the results folder.")
    parser.add_argument(
        "studies", nargs="*", help="their names: folders in RESULTS/studies (default: all, and an index)"
    )
    parser.add_argument("--results", default="results", help="the results folder (default: results)")
    parser.add_argument("--format", default="page", choices=FORMATS, help="page, or paper: LaTeX, PDF, BibTeX")
    given = parser.parse_args(arguments)
    for name in given.studies or names(given.results):
        home = load(given.results, name).home
        path, verdict = write_report(home)
        print(f"{verdict}\nreport: {path.absolute()}")
        if given.format == "paper":
            print(f"paper: {write_paper(home).absolute()}")
    if not given.studies:
        print(f"all studies: {write_index(Path(given.results)).absolute()}")


def write_index(results: Path) -> Path:
    """A page of all studies of a results folder: question, headline, size, a link to each page."""
    shown = []
    for name in names(results):
        found = opened(results / "studies" / name)
        told = {"name": name, "study": found.study, "headline": headline(found, verdicts(found))}
        shown.append(told | {"states": found.trials.drop_duplicates("trial").ended.value_counts().to_dict()})
    page = results / "studies" / "index.html"
    _put(page, environment().get_template("index.html.jinja").render(studies=shown))
    return page
