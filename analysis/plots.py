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
from analysis.effect import half_width
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
    """Effects with their intervals on one endpoint, the baseline at zero, the margin of equivalence shaded.

    Each is labelled with its arm, or with the column `label` where there is one.
    """
    drawn = rows(effects[effects.endpoint == endpoint])
    with matplotlib.rc_context(STYLE):
        labels = [f"{row.get('label', row['arm'])} (n = {row['pairs']})" for row in drawn]
        widest = max((len(label) for label in labels), default=0)
        size = (max(4.6, 2.0 + 0.085 * widest), 0.9 + 0.42 * max(len(drawn), 1))
        figure = Figure(figsize=size, layout="constrained")
        axes = figure.add_subplot()
        if margin is not None:
            axes.axvspan(-margin, margin, color="0.5", alpha=0.15, linewidth=0)
        axes.axvline(0, color="0.3", linewidth=1)
        for place, row in enumerate(drawn):
            look = looks(arms)[row["arm"]]
            axes.plot([row["low"], row["high"]], [place, place], color=look["color"], linewidth=2)
            axes.plot(row["effect"], place, "o", color=look["color"], markersize=6)
        axes.set_yticks(range(len(drawn)), labels)
        axes.set_ylim(len(drawn) - 0.5, -0.5)
        unit = f" ({drawn[0]['unit']})" if drawn and drawn[0]["unit"] else ""
        axes.set_xlabel(f"difference in {endpoint}{unit}")
    return figure


def curves(results: Results, measure: str) -> Figure:
    """A measure over optimizer steps: each arm's mean over seeds, with its interval as a band."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(4.6, 3.2), layout="constrained")
        axes = figure.add_subplot()
        drawn = curve(results.recorded(measure), measure)
        for arm, look in looks(results.arms).items():
            _line(axes, drawn[drawn.arm == arm], arm, look)
        if _spans_decades(drawn["mean"]):
            axes.set_yscale("log")
            few = drawn["mean"].max() < 1000 * drawn["mean"].min()
            axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if few else (1,)))
            axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
            axes.yaxis.set_minor_formatter(NullFormatter())
        axes.set_xlabel("optimizer step")
        axes.set_ylabel(results.labelled(measure))
        _legend(figure)
    return figure


def interactions(results: Results, endpoint: str, factors: Sequence[str]) -> Figure:
    """Two factors' means over seeds with their intervals: one along the axis, a line for each level of the other.

    Any further factor is at the baseline's level.
    """
    levels = {arm: said["levels"] for arm, said in results.study["arms"].items()}
    across, lines = factors
    table, base = results.endpoints[endpoint], levels[results.arms[0]]
    levels = {a: own for a, own in levels.items() if all(own[f] == base[f] for f in base if f not in factors)}
    first, second = ([*dict.fromkeys(own[factor] for own in levels.values())] for factor in (across, lines))
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(4.6, 3.2), layout="constrained")
        axes = figure.add_subplot()
        for level, look in looks(second).items():
            arms = {levels[a][across]: table[a] for a in levels if levels[a][lines] == level}
            means = pd.Series({where: values.mean() for where, values in arms.items()}).reindex(first)
            halves = pd.Series({where: half_width(values) for where, values in arms.items()}).reindex(first)
            axes.errorbar(range(len(first)), means, halves, label=f"{lines}={level}", capsize=3, marker="o", **look)
        axes.set_xticks(range(len(first)), first)
        axes.set(xlabel=across, ylabel=results.labelled(endpoint))
        _legend(figure)
    return figure


def learning_rates(points: pd.DataFrame) -> Figure:
    """Final validation loss over the learning rate, a line for each group of arms, of `analysis.sensitivity.curves`."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(4.6, 3.2), layout="constrained")
        axes = figure.add_subplot()
        for group, look in looks(list(dict.fromkeys(points.group))).items():
            own = points[points.group == group]
            axes.errorbar(own.rate, own["mean"], own.deviation.fillna(0), label=group, capsize=3, marker="o", **look)
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 3)))
        axes.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.set(xlabel="learning rate", ylabel="val/loss (nats/token)")
        _legend(figure)
    return figure


def cost_and_effect(results: Results, effects: pd.DataFrame, endpoint: str) -> Figure:
    """Each arm's effect with its interval against what its training costs more than the baseline's, per token."""
    base = results.study["arms"][results.arms[0]]["flops"]
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(4.6, 3.2), layout="constrained")
        axes = figure.add_subplot()
        axes.axhline(0, color="0.3", linewidth=1)
        axes.axvline(0, color="0.3", linewidth=1)
        for row in rows(effects[effects.endpoint == endpoint]):
            look = looks(results.arms)[row["arm"]]
            more = 100 * (results.study["arms"][row["arm"]]["flops"] / base - 1)
            half = 0 if pd.isna(row["low"]) else row["high"] - row["effect"]
            axes.errorbar(more, row["effect"], half, marker="o", capsize=3, label=row["arm"], **look)
        axes.set(xlabel="training FLOPs against the baseline (%)", ylabel=f"difference in {endpoint}")
        _legend(figure)
    return figure


def _legend(figure: Figure) -> None:
    """Below the drawing, where it hides nothing; long names one under the other."""
    handles, names = figure.axes[0].get_legend_handles_labels()
    columns = 1 if max(map(len, names), default=0) > 28 else 2
    figure.legend(handles, names, loc="outside lower center", ncols=columns, fontsize=8, frameon=False)
    height = figure.get_figheight() + 0.17 * max(0, -(-len(names) // columns) - 2)
    figure.set_figheight(height)


def _spans_decades(values: pd.Series) -> bool:
    """Whether a logarithmic axis shows more; one that would lose zeros or negative numbers does not."""
    return len(values) > 0 and bool(values.min() > 0) and bool(values.max() > 5 * values.min())


def _line(axes: Axes, points: pd.DataFrame, arm: str, look: Mapping[str, Any]) -> None:
    least, most = points.n.min(), points.n.max()
    seeds = f"n = {most}" if least == most else f"n = {least} to {most}" if len(points) else "nothing recorded"
    axes.plot(points.step, points["mean"], label=f"{arm} ({seeds})", linewidth=1.4, **look)
    axes.fill_between(points.step, points.low, points.high, color=look["color"], alpha=0.2, linewidth=0)
