"""A study's arms and trials, out of a configuration and the axes of a command line."""

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

from hydra.core.override_parser.types import Override
from omegaconf import DictConfig

from experiments import build
from experiments.budget import cost_of, matched
from experiments.design import Levels, designs
from experiments.identity import Arm, understood
from experiments.options import KINDS
from experiments.refuse import refuse_clashes, refuse_clones, refuse_unknown

Compose = Callable[[list[str]], DictConfig]

ALONE = "baseline"  # what the only arm of a study without axes is called


@dataclass(frozen=True)
class Trial:
    """One arm under one seed."""

    id: str
    arm: str
    seed: int
    config: dict[str, Any]


@dataclass(frozen=True)
class Plan:
    """Everything that a study would run: its arms by label, the baseline first, and its trials."""

    name: str
    study: dict[str, Any]
    levels: dict[str, Levels]
    arms: dict[str, Arm]
    seeds: list[int]

    @property
    def trials(self) -> list[Trial]:
        """Seed by seed, so that arms can be compared early; arms with the same identity share a trial."""
        made = [(label, seed, arm.trial(seed)) for seed in self.seeds for label, arm in self.arms.items()]
        return [Trial(id, label, seed, config) for label, seed, (id, config) in made]


def plan(overrides: Iterable[Override], compose: Compose) -> Plan:
    """Expand the axes among `overrides`, and the factors of the study they name, into arms.

    Raises ValueError if an axis is given twice or a study's factor is also set on the command line,
    and whatever composing or understanding an arm raises.
    """
    fixed, axes = _split(overrides)
    seeds = axes.pop("seed", None)
    study = compose(fixed).study
    factors = {str(factor): [word(level) for level in levels] for factor, levels in study.factors.items()}
    given = [line.partition("=")[0] for line in fixed]
    refuse_clashes(factors, axes, given)
    if "study.seeds" in given and (seeds or "seed" in given):
        raise ValueError("study.seeds and seed both say which seeds to run; leave one of them out")
    arms = [own | crossed for crossed, own in product(designs["factorial"](axes), designs[study.design](factors))]
    levels = _labelled([_applicable(arm, arms) for arm in arms])
    made: dict[str, Arm] = {}
    for label, arm in levels.items():
        fit = _fitting(next(iter(made.values())).config) if made else None
        made[label] = _understood(label, compose([*fixed, *(f"{key}={level}" for key, level in arm.items())]), fit)
    first = next(iter(made.values()))
    asked = first.config["study"]
    refuse_unknown(asked, made)
    numbers = [int(seed) for seed in seeds] if seeds else _seeds(study.seeds, first.config["seed"])
    refuse_clones(made, numbers)
    return Plan(study.name or _name(levels, fixed), asked, levels, made, numbers)


def _fitting(baseline: dict[str, Any]) -> Callable[[dict[str, Any]], dict[str, Any]] | None:
    """How an arm is made to cost what the baseline does; None where that was not asked for."""
    measure = cost_of(baseline["budget"])
    if measure is None:
        return None
    target = build.cost(baseline, measure)
    return lambda config: matched(config, lambda each: build.cost(each, measure), target)


def _understood(label: str, config: DictConfig, fit: Callable[[dict[str, Any]], dict[str, Any]] | None) -> Arm:
    try:
        return understood(config, fit)
    except (ValueError, KeyError, OSError) as error:
        if label != ALONE:
            error.add_note(f"in the arm {label}")
        raise


def word(level: Any) -> str:
    """A level as it would be typed in an override; text that Hydra's grammar would split is quoted.

    >>> word(0.001), word(None), word("a,b"), word([1, 2])
    ('0.001', 'null', "'a,b'", '[1,2]')
    """
    if isinstance(level, str):
        return level if re.fullmatch(r"[\w./+-]+", level, re.ASCII) else f"'{_escaped(level)}'"
    if isinstance(level, Iterable):
        return f"[{','.join(word(each) for each in level)}]"
    return "null" if level is None else str(level).lower() if isinstance(level, bool) else str(level)


def _escaped(text: str) -> str:
    """As Hydra reads it between quotes: backslashes count as such only before a quote or the end."""
    return re.sub(r"(\\*)('|$)", lambda found: 2 * found[1] + ("\\'" if found[2] else ""), text)


def _split(overrides: Iterable[Override]) -> tuple[list[str], dict[str, list[str]]]:
    """The overrides that hold for all arms, and the levels of each axis."""
    fixed: list[str] = []
    axes: dict[str, list[str]] = {}
    seen: dict[str, str] = {}
    for override in overrides:
        key, line = override.get_key_element(), str(override.input_line)
        if key in seen:
            raise ValueError(
                f"{key} is given twice: {seen[key]} and {line}; give all levels of an axis together: {key}=A,B"
            )
        seen[key] = line
        if not override.is_sweep_override():
            fixed.append(line)
        elif override.is_discrete_sweep():
            axes[key] = [str(level) for level in override.sweep_string_iterator()]
        else:
            raise ValueError(f"{override.input_line}: an interval has no levels to try; list them: {key}=1,2,3")
    return fixed, axes


def _applicable(arm: Levels, arms: list[Levels]) -> Levels:
    """Leave out a knob that the arm's part does not have but another level of the same kind has."""

    def has(levels: Levels, key: str) -> bool:
        kind, _, knob = key.partition(".")
        return kind not in levels or kind not in KINDS or not knob or knob in KINDS[kind].knobs(levels[kind])

    return {key: level for key, level in arm.items() if has(arm, key) or not any(has(other, key) for other in arms)}


def _labelled(arms: list[Levels]) -> dict[str, Levels]:
    """Each different arm by what sets it apart from the first; the first by all its levels."""
    first = arms[0]
    labels: dict[str, Levels] = {}
    for arm in arms:
        apart = arm if arm == first else {key: level for key, level in arm.items() if first.get(key) != level}
        apart = apart or {key: level for key, level in first.items() if key not in arm}
        labels.setdefault(", ".join(f"{key}={level}" for key, level in apart.items()) or ALONE, arm)
    return labels


def _seeds(seeds: Any, only: int) -> list[int]:
    """A number of seeds from 0, or the seeds themselves; one seed means the configuration's own."""
    if not isinstance(seeds, int):
        return [int(seed) for seed in seeds]
    return list(range(seeds)) if seeds > 1 else [only]


def _name(levels: Mapping[str, Levels], fixed: list[str]) -> str:
    """What a study without a name is called: its axes, and a digest of their levels and of what else was set."""
    axes = "-".join(dict.fromkeys(key for arm in levels.values() for key in arm)) or ALONE
    settings = sorted(line for line in fixed if not line.lstrip("+").startswith(("runtime.", "study.", "hydra.")))
    digest = hashlib.sha256("\n".join([*levels, *settings]).encode()).hexdigest()[:6]
    return f"{axes[:80]}-{digest}"
