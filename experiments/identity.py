"""What a trial is: a hash of all that changes its numbers, and of nothing else.

So a study whose question, diagnostics or paths change finds its trials again, and two studies that
ask for the same trial share it.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf

from components.linear import Linear
from components.registry import Registry
from experiments import build, provenance
from experiments.measure import TRAINING
from experiments.options import COMPONENTS, EXPERIMENTS

SEEDS = ("seed", "init_seed", "data_seed")
ENDPOINTS = {"val/loss": "final", "gradient_norm/total": "median"}  # of a study that names none, where measured
NUMBERS = ("model", "layers", "trainer", "batch_size", "init_seed", "data_seed")


@dataclass(frozen=True)
class Arm:
    """A resolved configuration, and what it means: the kinds its model asked for, the tokens of its data.

    `seeded` names the seeds that follow `seed`; one that was given a number of its own keeps it.
    """

    config: dict[str, Any]
    seeded: tuple[str, ...]
    asked: frozenset[str]
    content: str
    parameters: int
    measures: tuple[str, ...]
    code: str

    def trial(self, seed: int) -> tuple[str, dict[str, Any]]:
        """The identity and the configuration of this arm under a seed."""
        config = self.config | dict.fromkeys(self.seeded, seed) | {"code": self.code}
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


def understood(config: DictConfig) -> Arm:
    """Load the data and build everything once, the model without weights: can it be built, and of which parts?

    Raises whatever a part says to sizes or values that it cannot work with.
    """
    resolved = plain(config)
    data = build.data(resolved)
    objective, optimizer, schedule = build.training(resolved)
    model, asked = build.model(resolved, data.vocabulary + objective.extra_tokens, device="meta")
    schedule(optimizer(Linear(2, 2)))
    measures = [*TRAINING, *(measure for watcher in build.watchers(resolved) for measure in watcher.measures(model))]
    names = tuple(measure.name for measure in measures)
    resolved["study"]["endpoints"] = resolved["study"]["endpoints"] or {
        k: v for k, v in ENDPOINTS.items() if k in names
    }
    return Arm(
        config=resolved,
        seeded=tuple(key for key in SEEDS if key == "seed" or OmegaConf.is_interpolation(config, key)),
        asked=frozenset(asked),
        content=data.content,
        parameters=sum(p.numel() for p in model.parameters()),
        measures=names,
        code=provenance.code(resolved, asked),
    )


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
