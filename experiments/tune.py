"""Fair arms: settings that each arm may choose for itself, on seeds that are not those of the report.

A study that says `tune: {optimizer.lr: [1e-3, 3e-3], seeds: 2}` first tries every combination with every arm, as a
study of its own, and then runs each arm with what served it best.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

from hydra.core.override_parser.types import Override

from experiments.axes import word
from experiments.design import Levels
from experiments.study import Compose, Plan, plan

FIRST_SEED = 500_000_000  # of those on which choices are made


@dataclass(frozen=True)
class Chosen:
    """What each arm chose, and which of its choices lie on the edge of the grid, where a better one may lie beyond."""

    levels: dict[str, Levels]
    edges: list[str]


def tuning(overrides: Iterable[Override], compose: Compose, made: Plan) -> Plan | None:
    """The study that tries the settings to be tuned with every arm of this one; None where nothing is to be tuned.

    Raises ValueError if what is to be tuned is an axis of the study, has one value, or is no list.
    """
    grid, seeds = _grid(made)
    if not grid:
        return None
    arms = {
        f"{label}, {_told(choice)}": made.levels[label] | choice for label, choice in product(made.arms, _choices(grid))
    }
    question = f"Which {' and '.join(grid)} serves each arm of {made.name} best?"
    asked = made.study | {"expect": {}, "margin": {}, "tune": {}, "exclude": {}, "question": question}
    tried = plan(overrides, compose, arms)
    return replace(tried, name=f"{made.name} tuning", study=asked, seeds=[FIRST_SEED + seed for seed in range(seeds)])


def choose(made: Plan, home: Path) -> Chosen:
    """For each arm the combination with the best mean of the study's first endpoint, among those that never diverged.

    Raises ValueError if an arm has none, or is not finished with one.
    """
    from analysis.results import opened

    results, (grid, _) = opened(home), _grid(made)
    endpoint = next(iter(made.study["endpoints"]))
    means = results.endpoints[endpoint].mean(skipna=False)
    sign = -1.0 if results.measures.better.get(endpoint) == "higher" else 1.0
    levels: dict[str, Levels] = {}
    for label in made.arms:
        tried = {f"{label}, {_told(choice)}": choice for choice in _choices(grid)}
        found = (sign * means.reindex(list(tried))).dropna()
        if found.empty:
            raise ValueError(f"{label}: no value of {', '.join(grid)} trains it; see {home / 'report.html'}")
        levels[label] = tried[str(found.idxmin())]
    edges = [
        f"{label}: {key}={value}" for label, choice in levels.items() for key, value in choice.items()
        if value in (grid[key][0], grid[key][-1])
    ]  # fmt: skip
    return Chosen(levels, edges)


def _choices(grid: Mapping[str, list[str]]) -> list[Levels]:
    return [dict(zip(grid, each, strict=True)) for each in product(*grid.values())]


def _told(choice: Levels) -> str:
    return ", ".join(f"{key}={value}" for key, value in choice.items())


def _grid(made: Plan) -> tuple[dict[str, list[str]], int]:
    """The values of each setting to be tuned, as they would be typed, and how many seeds decide."""
    asked: dict[str, Any] = dict(made.study["tune"])
    seeds = int(asked.pop("seeds", 2))
    for key, values in asked.items():
        if not isinstance(values, list) or len(values) < 2:
            raise ValueError(f"study.tune: {key} must be a list of values to choose from, was given {values!r}")
        if any(key in levels for levels in made.levels.values()):
            raise ValueError(f"study.tune: {key} is a factor of this study too; leave one of them out")
    return {key: [word(value) for value in values] for key, values in asked.items()}, seeds
