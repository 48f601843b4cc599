"""Attention maps, drawn from the arrays that a trial has left."""

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

NAMED_FROM = 0.4  # from this share on a head is called by its score's name


def head_summary(maps: AttentionMaps) -> str:
    """Which head looks at the previous token and which after an earlier copy, or that none does."""
    sentences = []
    for score in SCORES:
        place, head, value = maps.best(score)
        named = f"{score.replace('_', '-')} head"
        where = f"layer {place.removeprefix('layers.')}, head {head}"
        sentences.append(f"{named}: {where} ({value:.2f})" if value >= NAMED_FROM else f"no {named} (best {value:.2f})")
    return "; ".join(sentences)


def map_figure(maps: AttentionMaps) -> Figure:
    """A heat map a head, tokens on both axes, as many beside each other as stay readable; high scores in bold."""
    heads = [(place, head) for place, shares in maps.shares.items() for head in range(len(shares))]
    columns = min(len(heads), next(count for count, most in COLUMNS.items() if len(maps.tokens) <= most))
    side, rows = WIDTH / columns, -(-len(heads) // columns)
    with matplotlib.rc_context(STYLE | {"axes.grid": False}):
        drawn = Figure(figsize=(WIDTH, (side + 0.25) * rows), layout="constrained")
        panels = drawn.subplots(rows, columns, squeeze=False).flatten()
        for panel, (place, head) in zip(panels, heads, strict=False):
            _panel(panel, maps, place, head, min(7.0, 52 * side / len(maps.tokens)))
        for panel in panels[len(heads) :]:
            panel.remove()
    return drawn


WIDTH = 9.5  # inches


COLUMNS = {4: 20, 3: 32, 2: 80, 1: 10**9}  # heads beside each other, for so many tokens at most


def _panel(panel: Axes, maps: AttentionMaps, place: str, head: int, size: float) -> None:
    names = [_visible_token(token) for token in maps.tokens]
    sns.heatmap(
        maps.shares[place][head].astype(float), ax=panel, vmin=0, vmax=1, cmap="rocket_r", cbar=False, square=True,
        rasterized=True, xticklabels=names, yticklabels=names,
    )  # fmt: skip
    panel.tick_params(labelsize=size, length=0, pad=1)
    panel.tick_params(axis="y", rotation=0)
    values = {score: float(maps.scores[score][place][head]) for score in SCORES}
    shown = " · ".join(f"{score.partition('_')[0]} {value:.2f}" for score, value in values.items())
    title = f"layer {place.removeprefix('layers.')}, head {head} · {shown}"
    panel.set_title(title, fontsize=7.5, fontweight="bold" if max(values.values()) >= NAMED_FROM else "normal")


def _visible_token(token: str) -> str:
    return {" ": "␣", "\n": "⏎", "\t": "⇥"}.get(token, token)


@dataclass(frozen=True)
class DrawnMap:
    """A sentence's maps on a page: what they are of, what they say, the drawing."""

    name: str
    told: str
    drawing: str

    @classmethod
    def of(cls, name: str, path: Path) -> "DrawnMap":
        """Of a file; of one that is damaged, a sentence instead of the drawing."""
        try:
            maps = read_maps(path)
        except DamagedFile as damage:
            return cls(name, str(damage), "")
        return cls(name, head_summary(maps), svg(map_figure(maps)))


def study_maps(results: Results) -> list[DrawnMap]:
    """The maps that training has left of each arm, of its first seed that has any."""
    shown: list[DrawnMap] = []
    for arm, trials in results.trials.groupby("arm", sort=False):
        found = [
            (seed, maps_by_step(results.trial_folder(trial)))
            for trial, seed in zip(trials.trial, trials.seed, strict=True)
        ]
        seed, first = next(((seed, left) for seed, left in found if left), (0, []))
        shown += [DrawnMap.of(f"{arm}, seed {seed}, after step {step}", path) for step, path in first]
    return shown
