"""Offer every registered part as a Hydra option: one kind, one group, one word.

The schemas below type what is no part: the numbers of the model, of the trainer, of this machine
and of the question. Their values stand in `conf/config.yaml`.
"""

from dataclasses import dataclass, field, make_dataclass
from typing import Any

from hydra.core.config_store import ConfigStore
from omegaconf import MISSING

from components.registry import Registry, kinds, options

COMPONENTS = options("components")
EXPERIMENTS = {
    kind: registry for kind, registry in kinds("experiments").items() if kind not in ("diagnostic", "design")
}
KINDS: dict[str, Registry[Any]] = COMPONENTS | EXPERIMENTS


@dataclass
class Model:
    """The numbers of a model; its vocabulary is the data's."""

    width: int = MISSING
    depth: int = MISSING
    heads: int = MISSING
    head_width: int | None = MISSING
    key_value_heads: int | None = MISSING
    context: int = MISSING
    dropout: float = MISSING


@dataclass
class Trainer:
    """What lightning.Trainer takes under the same names; `threads` of a trial on a CPU, torch.compile's backend."""

    max_steps: int = MISSING
    val_check_interval: int = MISSING
    gradient_clip_val: float | None = MISSING
    accumulate_grad_batches: int = MISSING
    precision: str = MISSING
    accelerator: str = MISSING
    devices: int = MISSING
    threads: int = MISSING
    compile: str = MISSING


@dataclass
class Runtime:
    """Where and how trials run; nothing here changes a number."""

    results: str = MISSING
    slots: int | None = MISSING
    trials_per_device: int = MISSING
    smoke: int = MISSING
    retries: int = MISSING
    stop_after: int | None = MISSING
    timeout_minutes: float | None = MISSING
    checkpoint_minutes: float = MISSING
    keep_gb: float = MISSING
    failed: str = MISSING
    unmeasured: str = MISSING
    elsewhere: str = MISSING
    tracking_uri: str | None = MISSING
    code: str = MISSING


@dataclass
class Study:
    """A question and how it is to be answered."""

    name: str | None = None
    question: str = ""
    source: str = ""
    design: Any = MISSING
    factors: dict[str, list[Any]] = field(default_factory=dict)
    seeds: Any = 1
    endpoints: dict[str, str] = field(default_factory=dict)
    expect: dict[str, dict[str, str]] = field(default_factory=dict)
    margin: dict[str, float] = field(default_factory=dict)
    tune: dict[str, Any] = field(default_factory=dict)
    exclude: dict[str, str] = field(default_factory=dict)


def schema() -> type:
    """The whole configuration: one field a kind, then everything that is no part."""
    sections = {"model": Model, "trainer": Trainer, "runtime": Runtime, "study": Study}
    fields: list[Any] = [(kind, Any, field(default=MISSING)) for kind in KINDS]
    fields += [("diagnostic", dict[str, Any], field(default_factory=dict))]
    fields += [(name, section, field(default_factory=section)) for name, section in sections.items()]
    fields += [("layers", Any, field(default=None))]
    fields += [("knobs", dict[str, dict[str, Any]], field(default_factory=dict))]
    fields += [("plugins", list[str], field(default_factory=list)), ("budget", str, field(default=MISSING))]
    fields += [
        (name, int, field(default=MISSING)) for name in ("batch_size", "seed", "seed_offset", "init_seed", "data_seed")
    ]
    return make_dataclass("Config", [*fields, ("trial", str | None, field(default=None))])


def offer() -> None:
    """Put the schema and all parts into Hydra's store."""
    store = ConfigStore.instance()
    store.store("schema", schema())
    for kind, registry in KINDS.items():
        for name in registry.names():
            store.store(name, registry.schema(name), group=kind)
    diagnostics = kinds("experiments")["diagnostic"]
    for name in diagnostics.names():
        store.store(name, diagnostics.schema(name), group="diagnostic", package=f"diagnostic.{name}")
