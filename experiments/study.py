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
from omegaconf import DictConfig

from analysis.reduction import refuse_unknown
from experiments import build
from experiments.axes import ALONE, applicable, labelled, split, word
from experiments.budget import cost_of, matched
from experiments.design import Levels, designs
from experiments.folder import finished
from experiments.identity import Arm, understood
from experiments.refuse import refuse_clashes, refuse_clones

Compose = Callable[[list[str]], DictConfig]


@dataclass(frozen=True)
class Trial:
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
    def trials(self) -> list[Trial]:
        """Seed by seed, so that arms can be compared early; arms with the same identity share a trial."""
        made = [(label, seed, arm.trial(seed)) for seed in self.seeds for label, arm in self.arms.items()]
        return [Trial(id, label, seed, config) for label, seed, (id, config) in made]

    def missing(self, results: Path) -> list[Trial]:
        """Those that are not finished."""
        return [trial for trial in self.trials if finished(results / "trials" / trial.id) is None]

    def refuse_untrainable(self, labels: Iterable[str]) -> None:
        """Raises what an optimizer or a schedule says to one of these arms, which it names."""
        for label in dict.fromkeys(labels):
            with noted(label):
                self.arms[label].refuse_untrainable()


def plan(overrides: Iterable[Override], compose: Compose, arms: Mapping[str, Levels] | None = None) -> Plan:
    """Expand the axes among `overrides`, and the factors of the study they name, into arms; or take these.

    Raises ValueError if an axis is given twice or a study's factor is also set on the command line,
    and whatever composing or understanding an arm raises.
    """
    fixed, axes = split(overrides)
    seeds = axes.pop("seed", None)
    study = compose(fixed).study
    factors = {str(factor): [word(level) for level in levels] for factor, levels in study.factors.items()}
    given = [line.partition("=")[0] for line in fixed]
    refuse_clashes(factors, axes, given)
    if "study.seeds" in given and (seeds or "seed" in given):
        raise ValueError("study.seeds and seed both say which seeds to run; leave one of them out")
    levels = dict(arms) if arms else _expanded(_design(study.design)(factors), designs["factorial"](axes))
    made, impossible = _built(levels, lambda arm: compose([*fixed, *(f"{key}={level}" for key, level in arm.items())]))
    first = next(iter(made.values()))
    asked = first.config["study"]
    if not arms:
        measured = [*dict.fromkeys(name for arm in made.values() for name in arm.measures), "diverged"]
        refuse_unknown(asked, measured, made)
    numbers = [int(seed) for seed in seeds] if seeds else _seeds(study.seeds, first.config["seed"])
    refuse_clones(made, numbers)
    return Plan(study.name or _name(levels, fixed), asked, levels, made, numbers, impossible)


def _expanded(design: list[Levels], axes: list[Levels]) -> dict[str, Levels]:
    """The arms of a design under every combination of axes, each under its label."""
    arms = [own | crossed for crossed, own in product(axes, design)]
    return labelled([applicable(arm, arms) for arm in arms])


def _design(chosen: Any) -> Callable[[dict[str, list[str]]], list[Levels]]:
    """A design by its name, or by its name and knobs; YAML reads the name null as None."""
    return designs.build({"name": chosen or "null"} if chosen is None or isinstance(chosen, str) else chosen)


def _built(
    levels: Mapping[str, Levels], composed: Callable[[Levels], DictConfig]
) -> tuple[dict[str, Arm], dict[str, str]]:
    """The arms, and why some combinations are none although each of their levels works in another arm.

    Raises what the baseline raises, and what an arm raises of which some level works nowhere.
    """
    made: dict[str, Arm] = {}
    errors: dict[str, Exception] = {}
    for label, arm in levels.items():
        fit = _fitting(next(iter(made.values())).config) if made else None
        try:
            with noted(label):
                made[label] = understood(composed(arm), fit)
        except (ValueError, KeyError, OSError) as error:
            errors[label] = error
            if not made:
                raise
    working = {level for label in made for level in levels[label].items()}
    for label, error in errors.items():
        if not set(levels[label].items()) <= working:
            raise error
    return made, {label: str(error.args[0]) for label, error in errors.items()}


def _fitting(baseline: dict[str, Any]) -> Callable[[dict[str, Any]], dict[str, Any]] | None:
    """How an arm is made to cost what the baseline does; None where that was not asked for."""
    measure = cost_of(baseline["budget"])
    if measure is None:
        return None
    target = build.cost(baseline, measure)
    return lambda config: matched(config, lambda each: build.cost(each, measure), target)


@contextmanager
def noted(label: str) -> Iterator[None]:
    """Errors say in which arm they arose."""
    try:
        yield
    except (ValueError, KeyError, OSError) as error:
        if label != ALONE:
            error.add_note(f"in the arm {label}")
        raise


def _seeds(seeds: Any, only: int) -> list[int]:
    """A number of seeds from 0, or the seeds themselves; one seed means the configuration's own."""
    if isinstance(seeds, int) and seeds > 0:
        return list(range(seeds)) if seeds > 1 else [only]
    if isinstance(seeds, int | str):
        raise ValueError(f"study.seeds={seeds}: must be how many, at least 1, or a list of seeds: study.seeds=[3,7]")
    return [int(seed) for seed in seeds]


def _name(levels: Mapping[str, Levels], fixed: list[str]) -> str:
    """What a study without a name is called: its axes, and a digest of their levels and of what else was set."""
    axes = "-".join(dict.fromkeys(key for arm in levels.values() for key in arm)) or ALONE
    settings = sorted(line for line in fixed if not line.lstrip("+").startswith(("runtime.", "study.", "hydra.")))
    digest = hashlib.sha256("\n".join([*levels, *settings]).encode()).hexdigest()[:6]
    return f"{axes[:80]}-{digest}"
