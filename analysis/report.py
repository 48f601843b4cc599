"""A study's page: one HTML file that needs nothing else, and the same in Markdown."""

import argparse
import io
import tempfile
import warnings
from pathlib import Path
from typing import Any

import matplotlib
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from matplotlib.figure import Figure

from analysis import contents, plots, words
from analysis.results import Results, load, opened
from analysis.verdict import Verdict, frame, headline, verdicts


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
        "forests": {e: svg(plots.forest(effects, e, results.arms, study["margin"].get(e))) for e in compared},
        "curves": {measure: svg(plots.curves(results, measure)) for measure in measures},
        "absolute": contents.absolute(results),
        "costs": contents.costs(results),
        "differences": contents.differences(results),
        "missing": contents.missing(results),
        "provenance": contents.provenance(results),
    }


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


def svg(figure: Figure) -> Markup:
    """A figure as inline SVG, the same bytes for the same figure."""
    buffer = io.StringIO()
    with matplotlib.rc_context(plots.STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font")  # it only measures; the reader's fonts draw
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None}, transparent=True)
    drawing = buffer.getvalue()
    return Markup(drawing[drawing.index("<svg") :])


def main(arguments: list[str]) -> None:
    """`knockout report STUDY [--results FOLDER]`: write the page again, print its verdicts and path."""
    parser = argparse.ArgumentParser(
        "knockout report", description="Write a study's page again from its results folder."
    )
    parser.add_argument("study", help="its name: a folder in RESULTS/studies")
    parser.add_argument("--results", default="results", help="the results folder (default: results)")
    given = parser.parse_args(arguments)
    path, verdict = write_report(load(given.results, given.study).home)
    print(f"{verdict}\nreport: {path.absolute()}")
