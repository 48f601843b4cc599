"""An arm: a resolved configuration and the facts about its model."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf

from components.registry import unknown
from experiments.data import Data
from experiments.instruments.cost import training_flops
from experiments.settings.schema import COMPONENTS, EXPERIMENTS
from experiments.study.arm_cache import ArmFacts, cached_facts
from experiments.study.checks import refuse_invalid_settings
from experiments.study.code_version import code_version
from experiments.study.identity import trial_id
from experiments.study.sight import try_reach
from experiments.study.unused import refuse_unused_weights, unused_kinds
from experiments.trial import build
from experiments.trial.build import build_data, build_data_at, build_model, build_training
from experiments.trial.measures import build_diagnostics, trial_measures

SEEDS = ("seed", "init_seed", "data_seed")


ENDPOINTS = {"val/loss": "final", "gradient_norm/total": "median"}  # of a study that names none, where measured


@dataclass(frozen=True)
class Arm:
    """A resolved configuration, and what it means: the kinds its model asked for, the tokens of its data.

    `seed_keys` names the seeds that follow `seed`; a seed with its own number keeps it. `measures` are those of its
    trials, and how they repeat; `measure_code` is the digest of the code of each, `code` that of all other numbers.
    """

    config: dict[str, Any]
    seed_keys: tuple[str, ...]
    used_kinds: frozenset[str]
    content: str
    parameters: int
    flops: float
    measures: Mapping[str, str]
    measure_code: Mapping[str, str]
    code: str
    sees_future: bool
    reads_across_batch: bool
    untried: str

    def refuse_untrainable(self) -> None:
        """Raises what the optimizer and the schedule say to this model and its steps, before any trial starts.

        Apart from all else, since a first optimizer takes torch a second.
        """
        objective, optimizer, schedule = build_training(self.config)
        vocabulary = build_data(self.config).vocabulary_size + objective.extra_tokens
        schedule(optimizer(build_model(self.config, vocabulary, device="meta")[0]))

    def record(self) -> dict[str, Any]:
        """What a study keeps of its arms: their size, and every setting."""
        own = {key: value for key, value in self.config.items() if key not in ("study", "runtime", "trial", "label")}
        endpoints = [name for name in self.config["study"]["endpoints"] if name in self.measure_code]
        code = {"code": self.code, "measure_code": {name: self.measure_code[name] for name in endpoints}}
        sight = {
            "sees_future": self.sees_future,
            "reads_across_batch": self.reads_across_batch,
            "untried": self.untried,
        }
        return {"parameters": self.parameters, "flops": self.flops, **code, **sight, "settings": own}

    def trial(self, seed: int) -> tuple[str, dict[str, Any]]:
        """The identity and the configuration of this arm under a seed."""
        own = {key: seed + self.config["seed_offset"] * (key != "seed") for key in self.seed_keys}
        config = self.config | own | {"code": self.code, "content": self.content}
        return trial_id(config, self.used_kinds, self.content), config


def resolved_settings(config: DictConfig) -> dict[str, Any]:
    """Resolved dicts, lists, numbers and words; paths are absolute. Raises if a value is missing."""
    own = OmegaConf.masked_copy(config, [str(key) for key in config if key != "hydra"])
    resolved = OmegaConf.to_container(own, resolve=True, throw_on_missing=True, enum_to_str=True)
    assert isinstance(resolved, dict)
    return {str(key): _plain_value(value) for key, value in resolved.items()}


def _plain_value(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain_value(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_plain_value(each) for each in value]
    return str(value.absolute()) if isinstance(value, Path) else value


def resolve_arm(config: DictConfig, fit: Callable[[dict[str, Any]], dict[str, Any]] | None = None) -> Arm:
    """Load the data and build everything once, the model without weights: can it be built, and of which parts?

    `fit` changes the resolved configuration before that, for arms that are to match another's size.

    Raises whatever a part says to sizes or values that it cannot work with.
    """
    resolved = _with_preset_knobs(resolved_settings(config), OmegaConf.select(config, "hydra.overrides.task") or [])
    refuse_invalid_settings(resolved)
    resolved = fit(resolved) if fit else resolved
    data = build.build_data(resolved)
    found = cached_facts(resolved, data.content, lambda: inspect_model(resolved, data))
    resolved["study"]["endpoints"] = resolved["study"]["endpoints"] or {
        name: reduction for name, reduction in ENDPOINTS.items() if name in found.measures
    }
    return Arm(
        config=resolved,
        seed_keys=tuple(key for key in SEEDS if key == "seed" or _follows_seed(config, key)),
        used_kinds=frozenset(found.asked),
        content=data.content,
        parameters=found.parameters,
        flops=found.flops,
        measures=found.measures,
        measure_code=found.measure_code,
        code=found.code,
        sees_future=found.sees_future,
        reads_across_batch=found.reads_across_batch,
        untried=found.untried,
    )


def inspect_model(config: dict[str, Any], data: Data) -> ArmFacts:
    """Build the model without weights, run it once forward and back, and ask every diagnostic."""
    objective = build_training(config)[0]
    vocabulary = data.vocabulary_size + objective.extra_tokens
    model, asked = build_model(config, vocabulary, device="meta")
    with unused_kinds(model) as unused:
        flops = training_flops(model)
    refuse_unused_weights(model)
    watchers = build_diagnostics(config)
    for watcher in watchers:
        watcher.refuse_model(model, lambda context: build_data_at(config, context))
    measures = trial_measures(data, objective, watchers, model)
    return ArmFacts(
        asked=sorted(asked - unused),
        parameters=sum(p.numel() for p in model.parameters()),
        flops=flops,
        measures={measure.name: measure.repeats for measure in measures},
        measure_code={measure.name: measure.code for measure in measures},
        code=code_version(config, asked - unused),
        **try_reach(config, objective),
    )


def _with_preset_knobs(config: dict[str, Any], overrides: Iterable[str]) -> dict[str, Any]:
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
