"""Figures, in which an arm has the same colour and line style everywhere; the functions return matplotlib figures."""

import io
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import matplotlib
import pandas as pd
import seaborn as sns
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter
from numpy.typing import ArrayLike

from analysis.statistics.curves import mean_curve
from analysis.statistics.effects import half_width
from analysis.statistics.learning_rate import RatePoint
from analysis.statistics.summary import arm_costs
from analysis.tables.columns import Effect
from analysis.tables.results import Results

LineType: TypeAlias = str | tuple[int, tuple[int, ...]]

DASHES: Sequence[LineType] = ("-", "--", ":", "-.", (0, (5, 1)), (0, (1, 1)), (0, (3, 1, 1, 1)))


STYLE: Any = {  # the keys are literals in matplotlib's stubs
    "svg.hashsalt": "knockout",
    "svg.fonttype": "none",  # text stays text, so that the reader's fonts draw any name
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
        warnings.filterwarnings(
            "ignore", "Glyph .* missing from font"
        )  # matplotlib only measures text here; the reader's fonts draw it
        figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None}, transparent=True)
    drawing = buffer.getvalue()
    return Markup(drawing[drawing.index("<svg") :])


@dataclass(frozen=True)
class LineStyle:
    """How an arm is drawn: its colour as red, green, blue, and its line style."""

    color: tuple[float, float, float]
    linestyle: LineType


def arm_styles(arms: Sequence[str]) -> dict[str, LineStyle]:
    """Each arm's colour (of seaborn's palette for the colour-blind) and line style."""
    palette = sns.color_palette("colorblind", max(len(arms), 1))
    return {arm: LineStyle(palette[i], DASHES[i % len(DASHES)]) for i, arm in enumerate(arms)}


def effects_by_endpoint(effects: Iterable[Effect]) -> dict[str, list[Effect]]:
    """The effects on each endpoint, in their order."""
    by_endpoint: dict[str, list[Effect]] = {}
    for effect in effects:
        by_endpoint.setdefault(effect.endpoint, []).append(effect)
    return by_endpoint


def forest_plot(
    effects: Sequence[Effect], arms: Sequence[str], margin: float | None, labels: Sequence[str] | None = None
) -> Figure:
    """Effects on one endpoint with their intervals, the baseline at zero, the margin of equivalence shaded.

    Each is labelled with its arm unless there are other `labels`; `arms` are all that get a colour.
    """
    names = [
        f"{label} ({'not compared' if effect.incomparable else f'n = {effect.pairs}'})"
        for label, effect in zip(labels or [effect.arm for effect in effects], effects, strict=True)
    ]
    widest = max((len(name) for name in names), default=0)
    size = (max(4.6, 2.0 + 0.085 * widest), 0.9 + 0.42 * max(len(effects), 1))
    styles = arm_styles(arms)
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=size, layout="constrained")
        axes = figure.add_subplot()
        if margin is not None:
            axes.axvspan(-margin, margin, color="0.5", alpha=0.15, linewidth=0)
        axes.axvline(0, color="0.3", linewidth=1)
        for row, effect in enumerate(effects):
            color = styles[effect.arm].color
            axes.plot([effect.low, effect.high], [row, row], color=color, linewidth=2)
            axes.plot(effect.effect, row, "o", color=color, markersize=6)
        axes.set_yticks(range(len(effects)), names)
        axes.set_ylim(len(effects) - 0.5, -0.5)
        if effects:
            unit = f" ({effects[0].unit})" if effects[0].unit else ""
            axes.set_xlabel(f"difference in {effects[0].endpoint}{unit}")
    return figure


def curve_plot(results: Results, measure: str) -> Figure:
    """A measure over optimizer steps: each arm's mean over seeds, with its interval as a band."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(4.6, 3.2), layout="constrained")
        axes = figure.add_subplot()
        curves = mean_curve(results.read_columns(measure), measure)
        for arm, style in arm_styles(results.arms).items():
            _line(axes, curves[curves.arm == arm], arm, style)
        if _spans_decades(curves["mean"]):
            axes.set_yscale("log")
            three_decades = curves["mean"].max() >= 1000 * curves["mean"].min()
            axes.yaxis.set_major_locator(LogLocator(subs=(1,) if three_decades else (1, 2, 5)))
            axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
            axes.yaxis.set_minor_formatter(NullFormatter())
        axes.set_xlabel("optimizer step")
        axes.set_ylabel(results.label_with_unit(measure))
        _legend(figure)
    return figure


def interaction_plot(results: Results, endpoint: str, factors: tuple[str, str]) -> Figure:
    """Two factors' means over seeds with their intervals: one factor along the axis, one line per level of the other.

    Any further factor is at the baseline's level.
    """
    across, lines = factors
    table, base = results.endpoints[endpoint], results.study.baseline.levels
    levels = {
        label: arm.levels
        for label, arm in results.study.arms.items()
        if all(arm.levels[factor] == base[factor] for factor in base if factor not in factors)
    }
    ticks = list(dict.fromkeys(arm[across] for arm in levels.values()))
    styles = arm_styles(list(dict.fromkeys(arm[lines] for arm in levels.values())))
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(4.6, 3.2), layout="constrained")
        axes = figure.add_subplot()
        for level, style in styles.items():
            columns = {arm[across]: table[label] for label, arm in levels.items() if arm[lines] == level}
            means = pd.Series({tick: values.mean() for tick, values in columns.items()}).reindex(ticks)
            halves = pd.Series({tick: half_width(values) for tick, values in columns.items()}).reindex(ticks)
            _points(axes, range(len(ticks)), means, halves, f"{lines}={level}", style)
        axes.set_xticks(range(len(ticks)), ticks)
        axes.set(xlabel=across, ylabel=results.label_with_unit(endpoint))
        _legend(figure)
    return figure


def learning_rate_plot(points: Sequence[RatePoint]) -> Figure:
    """Final validation loss over the learning rate, one line per group of arms."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(4.6, 3.2), layout="constrained")
        axes = figure.add_subplot()
        for group, style in arm_styles(list(dict.fromkeys(point.group for point in points))).items():
            line = [point for point in points if point.group == group]
            deviations = [0.0 if pd.isna(point.sd) else point.sd for point in line]
            _points(axes, [point.rate for point in line], [point.mean for point in line], deviations, group, style)
        axes.set_xscale("log")
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 3)))
        axes.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.set(xlabel="learning rate", ylabel="val/loss (nats/token)")
        _legend(figure)
    return figure


def cost_plot(results: Results, effects: Sequence[Effect]) -> Figure:
    """Each arm's effect on one endpoint against its training FLOPs relative to the baseline's, with its interval."""
    more_flops = {cost.arm: 100 * cost.more_flops for cost in arm_costs(results)}
    styles = arm_styles(results.arms)
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(4.6, 3.2), layout="constrained")
        axes = figure.add_subplot()
        axes.axhline(0, color="0.3", linewidth=1)
        axes.axvline(0, color="0.3", linewidth=1)
        for effect in effects:
            half = 0.0 if pd.isna(effect.low) else effect.high - effect.effect
            _points(axes, [more_flops[effect.arm]], [effect.effect], [half], effect.arm, styles[effect.arm])
        axes.set(xlabel="training FLOPs against the baseline (%)", ylabel=f"difference in {effects[0].endpoint}")
        _legend(figure)
    return figure


def _points(axes: Axes, x: Sequence[float], y: ArrayLike, halves: ArrayLike, label: str, style: LineStyle) -> None:
    """Points with error bars, joined by a line."""
    axes.errorbar(
        x, y, halves, label=label, capsize=3, marker="o", color=style.color, linestyle=style.linestyle
    )  # fmt: skip


def _legend(figure: Figure) -> None:
    """Put the legend below the drawing, where it hides nothing; long names in one column."""
    handles, names = figure.axes[0].get_legend_handles_labels()
    columns = 1 if max(map(len, names), default=0) > 28 else 2
    figure.legend(handles, names, loc="outside lower center", ncols=columns, fontsize=8, frameon=False)
    height = figure.get_figheight() + 0.17 * max(0, -(-len(names) // columns) - 2)
    figure.set_figheight(height)


def _spans_decades(values: pd.Series) -> bool:
    """Whether a logarithmic axis suits the values: all are positive and the largest is five times the smallest."""
    return len(values) > 0 and bool(values.min() > 0) and bool(values.max() > 5 * values.min())


def _line(axes: Axes, points: pd.DataFrame, arm: str, style: LineStyle) -> None:
    seeds = "nothing recorded"
    if len(points):
        fewest, most = points.n.min(), points.n.max()
        seeds = f"n = {most}" if fewest == most else f"n = {fewest} to {most}"
    label, color = f"{arm} ({seeds})", style.color
    axes.plot(points.step, points["mean"], label=label, linewidth=1.4, color=color, linestyle=style.linestyle)
    axes.fill_between(points.step, points.low, points.high, color=color, alpha=0.2, linewidth=0)
