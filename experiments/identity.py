"""What a trial is: a hash of all that changes its numbers, and of nothing else.

So a study whose question, diagnostics or paths change finds its trials again, and two studies that
ask for the same trial share it.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf

from components.registry import Registry, unknown
from experiments import build, provenance
from experiments.budget import training_flops
from experiments.data import Data
from experiments.inert import refuse_unused, unread
from experiments.known import Found, known
from experiments.options import COMPONENTS, EXPERIMENTS
from experiments.refuse import refuse_bad_numbers

SEEDS = ("seed", "init_seed", "data_seed")
ENDPOINTS = {"val/loss": "final", "gradient_norm/total": "median"}  # of a study that names none, where measured
NUMBERS = ("model", "layers", "trainer", "batch_size", "init_seed", "data_seed")


@dataclass(frozen=True)
class Arm:
    """A resolved configuration, and what it means: the kinds its model asked for, the tokens of its data.

    `seeded` names the seeds that follow `seed`; one that was given a number of its own keeps it. `measures` are those
    of its trials, and how they repeat.
    """

    config: dict[str, Any]
    seeded: tuple[str, ...]
    asked: frozenset[str]
    content: str
    parameters: int
    flops: float
    measures: Mapping[str, str]
    code: str

    def refuse_untrainable(self) -> None:
        """Raises what the optimizer and the schedule say to this model and its steps, before any trial starts.

        Apart from all else, since a first optimizer takes torch a second.
        """
        objective, optimizer, schedule = build.training(self.config)
        vocabulary = build.data(self.config).vocabulary + objective.extra_tokens
        schedule(optimizer(build.model(self.config, vocabulary, device="meta")[0]))

    def described(self) -> dict[str, Any]:
        """What a study keeps of its arms: their size, and every setting."""
        own = {key: value for key, value in self.config.items() if key not in ("study", "runtime", "trial", "label")}
        return {"parameters": self.parameters, "flops": self.flops, "code": self.code, "settings": own}

    def trial(self, seed: int) -> tuple[str, dict[str, Any]]:
        """The identity and the configuration of this arm under a seed."""
        own = {key: seed + self.config["seed_offset"] * (key != "seed") for key in self.seeded}
        config = self.config | own | {"code": self.code, "content": self.content}
        return identity(config, self.asked, self.content), config


def plain(config: DictConfig) -> dict[str, Any]:
    """Resolved dicts, lists, numbers and words; paths are absolute. Raises if a value is missing."""
    own = OmegaConf.masked_copy(config, [str(key) for key in config if key != "hydra"])
    resolved = OmegaConf.to_container(own, resolve=True, throw_on_missing=True, enum_to_str=True)
    assert isinstance(resolved, dict)
    return {str(key): _plain(value) for key, value in resolved.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return str(value.absolute()) if isinstance(value, Path) else value


def understood(config: DictConfig, fit: Callable[[dict[str, Any]], dict[str, Any]] | None = None) -> Arm:
    """Load the data and build everything once, the model without weights: can it be built, and of which parts?

    `fit` changes the resolved configuration before that, for arms that are to match another's size.

    Raises whatever a part says to sizes or values that it cannot work with.
    """
    resolved = _with_knobs(plain(config), OmegaConf.select(config, "hydra.overrides.task") or [])
    refuse_bad_numbers(resolved)
    resolved = fit(resolved) if fit else resolved
    data = build.data(resolved)
    found = known(resolved, data.content, lambda: examined(resolved, data))
    resolved["study"]["endpoints"] = resolved["study"]["endpoints"] or {
        name: reduction for name, reduction in ENDPOINTS.items() if name in found.measures
    }
    return Arm(
        config=resolved,
        seeded=tuple(key for key in SEEDS if key == "seed" or _follows_seed(config, key)),
        asked=frozenset(found.asked),
        content=data.content,
        parameters=found.parameters,
        flops=found.flops,
        measures=found.measures,
        code=found.code,
    )


def examined(config: dict[str, Any], data: Data) -> Found:
    """Build the model without weights, run it once forward and back, and ask every diagnostic."""
    vocabulary = data.vocabulary + build.training(config)[0].extra_tokens
    model, asked = build.model(config, vocabulary, device="meta")
    with unread(model) as unused:
        flops = training_flops(model)
    refuse_unused(model)
    watchers = build.watchers(config)
    for watcher in watchers:
        watcher.refuse(model, lambda context: build.data_at(config, context))
    return Found(
        asked=sorted(asked - unused),
        parameters=sum(p.numel() for p in model.parameters()),
        flops=flops,
        measures={measure.name: measure.repeats for measure in build.measures(data, watchers, model)},
        code=provenance.code(config, asked - unused),
    )


def _with_knobs(config: dict[str, Any], overrides: Iterable[str]) -> dict[str, Any]:
    """The configuration with a preset's knobs where their part stands and nobody set them otherwise.

    Raises ValueError for a knob that its part does not have.
    """
    typed = {line.lstrip("+").partition("=")[0] for line in overrides}
    for chosen, knobs in config.pop("knobs").items():
        kind, _, name = chosen.partition("=")
        known = COMPONENTS | EXPERIMENTS
        if kind not in known:
            raise ValueError(f"knobs.{chosen}: {unknown('kind', kind, known)}")
        for knob, value in knobs.items():
            if knob not in known[kind].knobs(name):
                raise ValueError(f"knobs.{chosen}: {unknown('setting', knob, known[kind].knobs(name))}")
            if config[kind]["name"] == name and f"{kind}.{knob}" not in typed:
                config[kind][knob] = value
    return config


def _follows_seed(config: DictConfig, key: str) -> bool:
    raw: Any = OmegaConf.to_container(config, resolve=False)
    return raw[key] == "${seed}"


def identity(config: Mapping[str, Any], asked: frozenset[str], content: str) -> str:
    """Twelve hexadecimal digits; knobs that are paths say where something lies, not what, and do not count."""
    parts = {kind: _knobs(COMPONENTS[kind], config[kind]) for kind in sorted(asked)}
    parts |= {kind: _knobs(registry, config[kind]) for kind, registry in EXPERIMENTS.items()}
    numbers = {key: config[key] for key in NUMBERS}
    canonical = json.dumps({**parts, **numbers, "content": content}, sort_keys=True)
    return hashlib.sha256(canonical.encode()).hexdigest()[:12]


def _knobs(registry: Registry[Any], config: Mapping[str, Any]) -> dict[str, Any]:
    types = registry.knobs(str(config["name"]))
    return {knob: value for knob, value in config.items() if knob == "name" or types[knob][0] is not Path}
