"""A study's arms and trials, out of a configuration and the axes of a command line."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

from hydra.core.override_parser.types import Override
from omegaconf import DictConfig, ListConfig

from analysis.record.layout import trial_folder
from analysis.record.summary import read_summary
from analysis.tables.endpoints import refuse_unknown_names
from components.domains import Seed, refuse
from experiments.design import Levels, designs
from experiments.settings.overrides import override_text, split_axes
from experiments.settings.schema import Seeds
from experiments.study.arm import Arm, resolve_arm
from experiments.study.checks import refuse_clashes
from experiments.study.labels import ONLY_ARM, applicable_levels, label_arms
from experiments.study.match_size import cost_of, match_size
from experiments.trial.build import model_cost

Compose = Callable[[list[str]], DictConfig]


@dataclass(frozen=True)
class PlannedTrial:
    """One arm under one seed."""

    id: str
    arm: str
    seed: int
    config: dict[str, Any]


@dataclass(frozen=True)
class Plan:
    """Everything that a study would run: its arms by label, the baseline first, and its trials.

    `impossible` are combinations of levels that no model can have, each with the reason; they are left out.
    """

    name: str
    study: dict[str, Any]
    levels: dict[str, Levels]
    arms: dict[str, Arm]
    seeds: list[int]
    impossible: dict[str, str]

    @cached_property
    def trials(self) -> list[PlannedTrial]:
        """Seed by seed, so that arms can be compared early; arms with the same identity share a trial."""
        made = [(label, seed, arm.trial(seed)) for seed in self.seeds for label, arm in self.arms.items()]
        return [PlannedTrial(id, label, seed, config) for label, seed, (id, config) in made]

    def missing(self, results: Path) -> list[PlannedTrial]:
        """Those that are not finished."""
        return [trial for trial in self.trials if read_summary(trial_folder(results, trial.id)) is None]

    def refuse_untrainable(self, labels: Iterable[str]) -> None:
        """Raises what an optimizer or a schedule says to one of these arms, which it names."""
        for label in dict.fromkeys(labels):
            with naming_the_arm(label):
                self.arms[label].refuse_untrainable()


def plan_study(overrides: Iterable[Override], compose: Compose, arms: Mapping[str, Levels] | None = None) -> Plan:
    """Expand the axes among `overrides`, and the factors of the study they name, into arms; or take these.

    Raises ValueError if an axis is given twice or a study's factor is also set on the command line,
    and whatever composing or understanding an arm raises.
    """
    fixed, axes = split_axes(overrides)
    seeds = axes.pop("seed", None)
    baseline = compose(fixed)
    study = baseline.study
    factors = {str(factor): [override_text(level) for level in levels] for factor, levels in study.factors.items()}
    given = [line.partition("=")[0] for line in fixed]
    refuse_clashes(factors, axes, given)
    if "study.seeds" in given and (seeds or "seed" in given):
        raise ValueError("study.seeds and seed both say which seeds to run; leave one of them out")
    numbers = _axis_seeds(seeds) if seeds else _read_seeds(study.seeds, baseline.seed)
    levels = dict(arms) if arms else _expand_arms(_build_design(study.design)(factors), designs["factorial"](axes))
    made, impossible = _resolve_arms(
        levels, lambda arm: compose([*fixed, *(f"{key}={level}" for key, level in arm.items())])
    )
    first = next(iter(made.values()))
    asked = first.config["study"]
    if not arms:
        measured = [*dict.fromkeys(name for arm in made.values() for name in arm.measures), "diverged"]
        refuse_unknown_names(asked["endpoints"], asked["margin"], asked["expect"], measured, made)
    refuse_duplicate_trials(made, numbers)
    return Plan(study.name or _default_name(levels, fixed), asked, levels, made, numbers, impossible)


def _expand_arms(design: list[Levels], axes: list[Levels]) -> dict[str, Levels]:
    """The arms of a design under every combination of axes, each under its label."""
    arms = [own | crossed for crossed, own in product(axes, design)]
    return label_arms([applicable_levels(arm, arms) for arm in arms])


def _build_design(chosen: Any) -> Callable[[dict[str, list[str]]], list[Levels]]:
    """A design by its name, or by its name and knobs; YAML reads the name null as None."""
    own = chosen if isinstance(chosen, DictConfig) else {"name": "null" if chosen is None else chosen}
    return designs.build(own, "study.design")


def _resolve_arms(
    levels: Mapping[str, Levels], composed: Callable[[Levels], DictConfig]
) -> tuple[dict[str, Arm], dict[str, str]]:
    """The arms, and why some combinations are none although each of their levels works in another arm.

    Raises what the baseline raises, and what an arm raises of which some level works nowhere.
    """
    made: dict[str, Arm] = {}
    errors: dict[str, Exception] = {}
    for label, arm in levels.items():
        fit = _size_matching(next(iter(made.values())).config) if made else None
        try:
            with naming_the_arm(label):
                made[label] = resolve_arm(composed(arm), fit)
        except (ValueError, KeyError, OSError) as error:
            errors[label] = error
            if not made:
                raise
    working = {level for label in made for level in levels[label].items()}
    for label, error in errors.items():
        if not set(levels[label].items()) <= working:
            raise error
    return made, {label: str(error.args[0]) for label, error in errors.items()}


def _size_matching(baseline: dict[str, Any]) -> Callable[[dict[str, Any]], dict[str, Any]] | None:
    """How an arm is made to cost what the baseline does; None where that was not asked for."""
    measure = cost_of(baseline["budget"])
    if measure is None:
        return None
    target = model_cost(baseline, measure)
    return lambda config: match_size(config, lambda each: model_cost(each, measure), target)


@contextmanager
def naming_the_arm(label: str) -> Iterator[None]:
    """Errors say in which arm they arose."""
    try:
        yield
    except (ValueError, KeyError, OSError) as error:
        if label != ONLY_ARM:
            error.add_note(f"in the arm {label}")
        raise


def _axis_seeds(levels: list[str]) -> list[int]:
    """The seeds of an axis. Raises ValueError for a level that is no seed."""
    seeds: list[Any] = [int(level) if level.isdecimal() else level for level in levels]
    for seed in seeds:
        refuse("seed", seed, Seed)
    return seeds


def _read_seeds(asked: Any, only: int) -> list[int]:
    """A number of seeds from 0, or the seeds themselves; one seed means the configuration's own.

    Raises ValueError for anything else.
    """
    seeds = list(asked) if isinstance(asked, ListConfig) else asked
    refuse("study.seeds", seeds, Seeds)
    if isinstance(seeds, list):
        return seeds
    return list(range(seeds)) if seeds > 1 else [only]


def _default_name(levels: Mapping[str, Levels], fixed: list[str]) -> str:
    """What a study without a name is called: its axes, and a digest of their levels and of what else was set."""
    axes = "-".join(dict.fromkeys(key for arm in levels.values() for key in arm)) or ONLY_ARM
    settings = sorted(line for line in fixed if not line.lstrip("+").startswith(("runtime.", "study.", "hydra.")))
    digest = hashlib.sha256("\n".join([*levels, *settings]).encode()).hexdigest()[:6]
    return f"{axes[:80]}-{digest}"


def refuse_duplicate_trials(arms: Mapping[str, Arm], seeds: list[int]) -> None:
    """Seeds that are the same, or that change nothing: one trial would count as several."""
    if len(set(seeds)) < len(seeds):
        raise ValueError(f"the seeds {seeds} are not all different: one trial would count as several")
    for label, arm in arms.items():
        refuse(f"{label}: seed + seed_offset", max(seeds) + arm.config["seed_offset"], Seed)
        if len(seeds) > 1 and set(arm.seed_keys) <= {"seed"}:
            raise ValueError(
                f"{label}: seed changes nothing, as init_seed and data_seed are fixed; leave one to follow it"
            )
