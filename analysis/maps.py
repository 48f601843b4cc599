"""Attention maps, drawn from the arrays that a trial has left."""

from dataclasses import dataclass
from pathlib import Path

import matplotlib
import numpy as np
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.plots import STYLE, svg
from analysis.results import Results

SCORES = ("previous_token", "induction")
SURE = 0.4  # from this share on a head is called by its score's name


@dataclass(frozen=True)
class Maps:
    """One sentence: its tokens, every head's shares by layer (head, query, key), every head's scores by layer."""

    tokens: list[str]
    shares: dict[str, np.ndarray]
    scores: dict[str, dict[str, np.ndarray]]

    def best(self, score: str) -> tuple[str, int, float]:
        """Layer, head and value of the head with the highest score."""
        heads = [(place, head, float(v)) for place, each in self.scores[score].items() for head, v in enumerate(each)]
        return max(heads, key=lambda found: found[2])


def read(path: Path) -> Maps:
    """The arrays of a file `attention/<step>.<number>.npz`."""
    with np.load(path) as arrays:
        by = {kind: {n.partition("/")[2]: arrays[n] for n in arrays if n.startswith(f"{kind}/")} for kind in KINDS}
        return Maps(list(arrays["tokens"]), by["shares"], {score: by[score] for score in SCORES})


KINDS = ("shares", *SCORES)


def told(maps: Maps) -> str:
    """Which head looks at the previous token and which after an earlier copy, or that none does."""
    sentences = []
    for score in SCORES:
        place, head, value = maps.best(score)
        named = f"{score.replace('_', '-')} head"
        where = f"layer {place.removeprefix('layers.')}, head {head}"
        sentences.append(f"{named}: {where} ({value:.2f})" if value >= SURE else f"no {named} (best {value:.2f})")
    return "; ".join(sentences)


def figure(maps: Maps) -> Figure:
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


def _panel(panel: Axes, maps: Maps, place: str, head: int, size: float) -> None:
    names = [_visible(token) for token in maps.tokens]
    sns.heatmap(
        maps.shares[place][head].astype(float), ax=panel, vmin=0, vmax=1, cmap="rocket_r", cbar=False, square=True,
        rasterized=True, xticklabels=names, yticklabels=names,
    )  # fmt: skip
    panel.tick_params(labelsize=size, length=0, pad=1)
    panel.tick_params(axis="y", rotation=0)
    values = {score: float(maps.scores[score][place][head]) for score in SCORES}
    shown = " · ".join(f"{score.partition('_')[0]} {value:.2f}" for score, value in values.items())
    title = f"layer {place.removeprefix('layers.')}, head {head} · {shown}"
    panel.set_title(title, fontsize=7.5, fontweight="bold" if max(values.values()) >= SURE else "normal")


def _visible(token: str) -> str:
    return {" ": "␣", "\n": "⏎", "\t": "⇥"}.get(token, token)


def steps(folder: Path) -> list[tuple[int, Path]]:
    """The maps that training has left in a trial's folder, the earliest first."""
    found = [(int(path.name.partition(".")[0]), path) for path in folder.glob("attention/[0-9]*.npz")]
    return sorted(found)


@dataclass(frozen=True)
class Shown:
    """A sentence's maps on a page: what they are of, what they say, the drawing."""

    name: str
    told: str
    drawing: str

    @classmethod
    def of(cls, name: str, path: Path) -> "Shown":
        """Of a file."""
        found = read(path)
        return cls(name, told(found), svg(figure(found)))


def of(results: Results) -> list[Shown]:
    """The maps that training has left of each arm, of its first seed that has any."""
    shown: list[Shown] = []
    for arm, trials in results.trials.groupby("arm", sort=False):
        found = [(seed, steps(results.folder(trial))) for trial, seed in zip(trials.trial, trials.seed, strict=True)]
        seed, first = next(((seed, left) for seed, left in found if left), (0, []))
        shown += [Shown.of(f"{arm}, seed {seed}, after step {step}", path) for step, path in first]
    return shown
