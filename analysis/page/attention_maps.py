"""Attention maps, drawn from the arrays in a trial's folder."""

from dataclasses import dataclass
from pathlib import Path

import matplotlib
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.page.plots import STYLE, svg
from analysis.record.attention_maps import SCORES, AttentionMaps, maps_by_step, read_maps
from analysis.record.files import DamagedFile
from analysis.tables.results import Results

NAMED_FROM = 0.4  # the score from which on a head is called by the score's name


def head_summary(maps: AttentionMaps) -> str:
    """The previous-token head and the induction head with their scores, or that there is none."""
    sentences = []
    for score in SCORES:
        layer, head, value = maps.best(score)
        kind = f"{score.replace('_', '-')} head"
        if value >= NAMED_FROM:
            sentences.append(f"{kind}: layer {layer.removeprefix('layers.')}, head {head} ({value:.2f})")
        else:
            sentences.append(f"no {kind} (best {value:.2f})")
    return "; ".join(sentences)


def map_figure(maps: AttentionMaps) -> Figure:
    """One heat map per head, tokens on both axes, in as many columns as stay readable; high scores in bold."""
    heads = [(layer, head) for layer, shares in maps.shares.items() for head in range(len(shares))]
    columns = min(len(heads), next(count for count, most in COLUMNS.items() if len(maps.tokens) <= most))
    side, rows = WIDTH / columns, -(-len(heads) // columns)
    with matplotlib.rc_context(STYLE | {"axes.grid": False}):
        figure = Figure(figsize=(WIDTH, (side + 0.25) * rows), layout="constrained")
        panels = figure.subplots(rows, columns, squeeze=False).flatten()
        for panel, (layer, head) in zip(panels, heads, strict=False):
            _panel(panel, maps, layer, head, min(7.0, 52 * side / len(maps.tokens)))
        for panel in panels[len(heads) :]:
            panel.remove()
    return figure


WIDTH = 9.5  # inches


COLUMNS = {4: 20, 3: 32, 2: 80, 1: 10**9}  # heads in a row: the largest number of tokens for it


def _panel(panel: Axes, maps: AttentionMaps, layer: str, head: int, size: float) -> None:
    names = [_visible_token(token) for token in maps.tokens]
    sns.heatmap(
        maps.shares[layer][head].astype(float), ax=panel, vmin=0, vmax=1, cmap="rocket_r", cbar=False, square=True,
        rasterized=True, xticklabels=names, yticklabels=names,
    )  # fmt: skip
    panel.tick_params(labelsize=size, length=0, pad=1)
    panel.tick_params(axis="y", rotation=0)
    values = {score: float(maps.scores[score][layer][head]) for score in SCORES}
    scores = " · ".join(f"{score.partition('_')[0]} {value:.2f}" for score, value in values.items())
    title = f"layer {layer.removeprefix('layers.')}, head {head} · {scores}"
    panel.set_title(title, fontsize=7.5, fontweight="bold" if max(values.values()) >= NAMED_FROM else "normal")


def _visible_token(token: str) -> str:
    return {" ": "␣", "\n": "⏎", "\t": "⇥"}.get(token, token)


@dataclass(frozen=True)
class DrawnMap:
    """The maps of one sentence on a page: their name, the heads they show, and the drawing as SVG."""

    name: str
    summary: str
    drawing: str

    @classmethod
    def of(cls, name: str, path: Path) -> "DrawnMap":
        """The maps in a file; of one that is damaged, a sentence instead of the drawing."""
        try:
            maps = read_maps(path)
        except DamagedFile as damage:
            return cls(name, str(damage), "")
        return cls(name, head_summary(maps), svg(map_figure(maps)))


def study_maps(results: Results) -> list[DrawnMap]:
    """The maps that training wrote for each arm, of its first seed that has any."""
    drawn: list[DrawnMap] = []
    for arm, trials in results.trials.groupby("arm", sort=False):
        for trial, seed in zip(trials.trial, trials.seed, strict=True):
            maps = maps_by_step(results.trial_folder(trial))
            if maps:
                drawn += [DrawnMap.of(f"{arm}, seed {seed}, after step {step}", path) for step, path in maps]
                break
    return drawn
