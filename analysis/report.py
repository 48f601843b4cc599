"""A study's page: one HTML file that needs nothing else, and the same in Markdown."""

import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from matplotlib.figure import Figure

from analysis import plots
from analysis.results import Results, load, opened, settings
from analysis.verdict import Verdict, frame, headline, verdicts


def write_report(home: Path) -> tuple[Path, str]:
    """Write `report.html`, `report.md` and `effects.csv` into a study's folder; the page's path, and its verdicts as text.

    The same folder gives the same bytes.
    """
    results = opened(home)
    judged = verdicts(results)
    content = contents(results, judged)
    environment = Environment(
        loader=PackageLoader("analysis"), autoescape=lambda name: bool(name and ".html" in name),
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    environment.filters |= {"signed": signed, "plainly": plainly, "cell": cell}
    for suffix in ("html", "md"):
        page = environment.get_template(f"report.{suffix}.jinja").render(content)
        (home / f"report.{suffix}").write_text(page, encoding="utf-8")
    frame(judged).to_csv(home / "effects.csv", index=False)
    return home / "report.html", text(judged)


def report(results: str, study: str) -> str:
    """Write the page of a study by name; its path and verdicts, to be printed."""
    page, found = write_report(load(results, study).home)
    return f"{found}\nreport: {page.absolute()}"


def contents(results: Results, judged: list[Verdict]) -> dict[str, Any]:
    """All that a page shows, as plain values."""
    study = results.study
    measures = [name for name in dict.fromkeys([*study["endpoints"], "train/loss"]) if name in results.measures.index]
    effects = frame(judged)
    return {
        "study": study, "headline": headline(results, judged), "verdicts": judged,
        "forests": {e: svg(plots.forest(effects, e, results.arms, study["margin"].get(e))) for e in study["endpoints"] if judged},
        "curves": {measure: svg(plots.curves(results, measure)) for measure in measures},
        "absolute": absolute(results), "costs": costs(results), "differences": differences(results),
        "missing": missing(results), "versions": provenance(results),
    }  # fmt: skip


def absolute(results: Results) -> list[dict[str, Any]]:
    """Mean, standard deviation over seeds and n of each arm on each endpoint."""
    tables = {measure: results.endpoint(measure, reduction) for measure, reduction in results.study["endpoints"].items()}
    return [
        {"arm": arm, "endpoint": measure, "mean": table[arm].mean(), "deviation": table[arm].std(), "n": int(table[arm].count())}
        for measure, table in tables.items()
        for arm in results.arms
    ]


def costs(results: Results) -> list[dict[str, Any]]:
    """Each arm's size against the baseline's, and what its trials took."""
    grouped = results.trials.groupby("arm", sort=False)[["tokens", "cpu_seconds", "peak_memory_mb"]].mean()
    sizes = {arm: results.study["arms"][arm]["parameters"] for arm in results.arms}
    base = sizes[results.arms[0]]
    states = results.trials.groupby(["arm", "status"]).size().unstack(fill_value=0)
    return [
        {"arm": arm, "parameters": sizes[arm], "more": sizes[arm] / base - 1, **grouped.loc[arm].to_dict(), "status": states.loc[arm][states.loc[arm] > 0].to_dict()}
        for arm in results.arms
    ]


def differences(results: Results) -> dict[str, list[Any]]:
    """Settings that are not the same in all arms: a row a setting, a column an arm."""
    first = results.trials.drop_duplicates("arm").set_index("arm").reindex(results.arms)
    columns = [c for c in first.columns if c not in ("trial", "seed", "status", "parameters", "tokens", "cpu_seconds", "peak_memory_mb", "diverged_step")]
    rows = {column: [None if pd.isna(value) is True else value for value in first[column]] for column in sorted(columns)}
    return {column: values for column, values in rows.items() if len({str(value) for value in values}) > 1}


def missing(results: Results) -> list[str]:
    """What a reader might think is there and is not."""
    trials = results.trials
    lines = [f"{t.arm}, seed {t.seed}: not finished, so it counts in no number here (trial {t.trial})" for t in trials[trials.status == "missing"].itertuples()]
    lines += [
        f"{t.arm}, seed {t.seed}: diverged at step {int(t.diverged_step)}; it counts as diverged and in no mean (trial {t.trial})"
        for t in trials[trials.status == "diverged"].itertuples()
    ]
    if (seeds := len(results.study["seeds"])) < 6:
        lines.append(f"{seeds} seed{'s' * (seeds > 1)}: an exact test cannot reach p < 0.05 below 6")
    return [*lines, "learning rates were not tuned for each arm: an effect holds at this rate"]


def provenance(results: Results) -> dict[str, Any]:
    """What the trials ran on and with, where all agree; otherwise everything that was found."""
    paths = [results.home.parents[1] / "trials" / trial / "summary.json" for trial in results.trials.trial.drop_duplicates()]
    summaries = [json.loads(path.read_text(encoding="utf-8")) for path in paths if path.exists()]
    flat = [settings({**s["versions"], "data": s["data"]["content"], "vocabulary": s["data"]["vocabulary"], "code": s["code"], "git": s["git"]}) for s in summaries]
    return {key: " / ".join(sorted({str(each.get(key)) for each in flat})) for key in (flat[0] if flat else {})}


def svg(figure: Figure) -> Markup:
    """A figure as inline SVG, the same bytes for the same figure."""
    buffer = io.StringIO()
    with plots.matplotlib.rc_context(plots.STYLE):
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None}, transparent=True)
    drawing = buffer.getvalue()
    return Markup(drawing[drawing.index("<svg") :])


def text(judged: list[Verdict]) -> str:
    """The verdicts as lines for a terminal."""
    if not judged:
        return "one arm: nothing to compare"
    rows = [
        {"arm": v.effect["arm"], "endpoint": v.effect["endpoint"], "effect": signed(v.effect["effect"]), "95 % interval": interval(v.effect),
         "n": v.effect["pairs"], "p (Holm)": plainly(v.effect["p_holm"]), "expected": v.expected or "-", "verdict": str(v.judgement)}
        for v in judged
    ]  # fmt: skip
    return pd.DataFrame(rows).to_string(index=False)


def interval(effect: Mapping[str, Any]) -> str:
    """Both ends, or a word where there is none."""
    return "none (one seed)" if pd.isna(effect["low"]) else f"{signed(effect['low'])} to {signed(effect['high'])}"


def signed(value: float) -> str:
    """Three digits and a sign.

    >>> signed(-0.04812), signed(0.0), signed(float("nan"))
    ('−0.0481', '0', '–')
    """
    return "–" if pd.isna(value) else "0" if value == 0 else f"{value:+.3g}".replace("-", "−")


def plainly(value: float) -> str:
    """Three digits."""
    return "–" if pd.isna(value) else f"{value:.3g}"


def cell(value: Any) -> str:
    """Text that no Markdown table takes for markup."""
    return "".join(f"\\{c}" if c in "|\\`*_<>[]$" else c for c in str(value).replace("\n", " "))


def main(arguments: list[str]) -> None:
    """`knockout report STUDY [--results FOLDER]`"""
    import argparse

    parser = argparse.ArgumentParser("knockout report", description="Write a study's page again from its results folder.")
    parser.add_argument("study", help="its name: a folder in RESULTS/studies")
    parser.add_argument("--results", default="results", help="the results folder (default: results)")
    given = parser.parse_args(arguments)
    print(report(given.results, given.study))
