"""Heat maps: what was measured in every layer, and what interventions did at every site."""

from collections.abc import Mapping

import matplotlib
import pandas as pd
import seaborn as sns
from matplotlib.figure import Figure

from analysis.plots import STYLE
from analysis.results import Results
from analysis.sites import Matrix


def depths(results: Results, shown: Mapping[str, pd.DataFrame]) -> Figure:
    """Heat maps of what was measured in every layer, of `analysis.depth.profiles`, each in a scale of its own."""
    with matplotlib.rc_context(STYLE | {"axes.grid": False}):
        columns = 1 if max(map(len, results.arms)) > 28 else 2
        lines, height = -(-len(shown) // columns), 0.9 + 0.3 * len(results.arms)
        figure = Figure(figsize=(9.5, height * lines), layout="constrained")
        panels = figure.subplots(lines, columns, squeeze=False).flatten()
        for panel, (family, found) in zip(panels, shown.items(), strict=False):
            sns.heatmap(found, ax=panel, annot=found.shape[1] <= MARKED, fmt=".2g", cmap="cividis", rasterized=True)
            first = f"{family}/layers.{found.columns[0]}"
            panel.set(title=results.labelled(first).replace(first, family), xlabel="layer", ylabel="")
            panel.tick_params(axis="y", rotation=0, length=0)
        for panel in panels[len(shown) :]:
            panel.remove()
    return figure


def sites(matrix: Matrix) -> Figure:
    """A heat map of an intervention, sites by arms, with means and intervals in its cells; white is 0."""
    largest = matrix.means.abs().max().max()
    with matplotlib.rc_context(STYLE | {"axes.grid": False}):
        figure = Figure(figsize=(9.5, 0.8 + 0.24 * len(matrix.means)), layout="constrained")
        axes = figure.add_subplot()
        sns.heatmap(
            matrix.means, ax=axes, annot=matrix.told(), fmt="", cmap="vlag", vmin=-largest, vmax=largest,
            rasterized=True, cbar_kws={"label": matrix.unit}, annot_kws={"size": 7.5},
        )  # fmt: skip
        axes.tick_params(axis="y", rotation=0, length=0)
        axes.tick_params(axis="x", rotation=0)
    return figure


MARKED = 12  # layers up to which a heat map's cells hold their numbers
