"""Figures: one colour and one line style for an arm in all of them. Functions return matplotlib figures."""

import io
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib
import pandas as pd
import seaborn as sns
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

from analysis.curves import curve
from analysis.frame import rows
from analysis.results import Results

DASHES: Sequence[Any] = ("-", "--", ":", "-.", (0, (5, 1)), (0, (1, 1)), (0, (3, 1, 1, 1)))
STYLE: Any = {
    "svg.hashsalt": "knockout",
    "svg.fonttype": "none",  # text stays text: the reader's own fonts draw any name
    "text.parse_math": False,
    "font.size": 9,
    "axes.grid": True,
    "grid.alpha": 0.25,
    "axes.spines.top": False,
    "axes.spines.right": False,
}


def svg(figure: Figure) -> Markup:
    """A figure as inline SVG, the same bytes for the same figure."""
    buffer = io.StringIO()
    with matplotlib.rc_context(STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font")  # it only measures; the reader's fonts draw
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None}, transparent=True)
    drawing = buffer.getvalue()
    return Markup(drawing[drawing.index("<svg") :])


def looks(arms: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Each arm's colour (of seaborn's palette for the colour-blind) and line style."""
    palette = sns.color_palette("colorblind", max(len(arms), 1))
    return {arm: {"color": palette[i], "linestyle": DASHES[i % len(DASHES)]} for i, arm in enumerate(arms)}


def forest(effects: pd.DataFrame, endpoint: str, arms: Sequence[str], margin: float | None) -> Figure:
    """Effects with their intervals on one endpoint, the baseline at zero, the margin of equivalence shaded."""
    drawn = rows(effects[effects.endpoint == endpoint])
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(4.6, 0.9 + 0.42 * max(len(drawn), 1)), layout="constrained")
        axes = figure.add_subplot()
        if margin is not None:
            axes.axvspan(-margin, margin, color="0.5", alpha=0.15, linewidth=0)
        axes.axvline(0, color="0.3", linewidth=1)
        for place, row in enumerate(drawn):
            look = looks(arms)[row["arm"]]
            axes.plot([row["low"], row["high"]], [place, place], color=look["color"], linewidth=2)
            axes.plot(row["effect"], place, "o", color=look["color"], markersize=6)
        axes.set_yticks(range(len(drawn)), [f"{row['arm']} (n = {row['pairs']})" for row in drawn])
        axes.set_ylim(len(drawn) - 0.5, -0.5)
        unit = drawn[0]["unit"] if drawn else ""
        axes.set_xlabel(f"difference in {endpoint} ({unit})")
    return figure


def curves(results: Results, measure: str) -> Figure:
    """A measure over optimizer steps: each arm's mean over seeds, with its interval as a band."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(4.6, 3.2), layout="constrained")
        axes = figure.add_subplot()
        drawn = curve(results.history, measure)
        for arm, look in looks(results.arms).items():
            _line(axes, drawn[drawn.arm == arm], arm, look)
        if _spans_decades(drawn["mean"]):
            axes.set_yscale("log")
            axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
            axes.yaxis.set_minor_formatter(NullFormatter())
        axes.set_xlabel("optimizer step")
        axes.set_ylabel(f"{measure} ({results.measures.unit[measure]})")
        axes.legend(fontsize=8, frameon=False)
    return figure


def _spans_decades(values: pd.Series) -> bool:
    """Whether a logarithmic axis shows more; one that would lose zeros or negative numbers does not."""
    return len(values) > 0 and bool(values.min() > 0) and bool(values.max() > 5 * values.min())


def _line(axes: Axes, points: pd.DataFrame, arm: str, look: Mapping[str, Any]) -> None:
    least, most = points.n.min(), points.n.max()
    seeds = f"n = {most}" if least == most else f"n = {least} to {most}" if len(points) else "nothing recorded"
    axes.plot(points.step, points["mean"], label=f"{arm} ({seeds})", linewidth=1.4, **look)
    axes.fill_between(points.step, points.low, points.high, color=look["color"], alpha=0.2, linewidth=0)
