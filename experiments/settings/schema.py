"""Offer every registered part as a Hydra option: one kind, one group, one word.

The schemas below type what is no part: the numbers of the model, of the trainer, of this machine
and of the question. Their values stand in `conf/config.yaml`.
"""

from dataclasses import dataclass, field, make_dataclass
from typing import Annotated, Any

from annotated_types import Interval, MinLen
from hydra.core.config_store import ConfigStore
from omegaconf import MISSING

from components.domains import Count, Distinct, Index, NonNegative, OneOf, OrInfinite, Positive, Probability, Seed
from components.registry import Registry, kinds, options

COMPONENTS = options("components")
DIAGNOSTICS = kinds("experiments")["diagnostic"]
EXPERIMENTS = {
    kind: registry for kind, registry in kinds("experiments").items() if kind not in ("diagnostic", "design")
}


KINDS: dict[str, Registry[Any]] = COMPONENTS | EXPERIMENTS
Again = Annotated[str, OneOf(("again", "leave"))]
SeedCount = Annotated[int, Interval(ge=1, le=1_000_000)]  # design=null gives its twin the seeds a million further on
Seeds = SeedCount | Annotated[tuple[Seed, ...], MinLen(1), Distinct()]


@dataclass
class Model:
    """The numbers of a model; its vocabulary is the data's."""

    width: Count = MISSING
    depth: Count = MISSING
    heads: Count = MISSING
    head_width: Count | None = MISSING
    key_value_heads: Count | None = MISSING
    context: Count = MISSING
    dropout: Probability = MISSING


@dataclass
class Trainer:
    """What lightning.Trainer takes under the same names; `threads` of a trial on a CPU, torch.compile's backend."""

    max_steps: Count = MISSING
    val_check_interval: Count = MISSING
    gradient_clip_val: NonNegative | None = MISSING
    accumulate_grad_batches: Count = MISSING
    precision: Annotated[str, OneOf(("32-true", "64-true", "bf16-mixed", "bf16-true", "16-true"))] = MISSING
    accelerator: Annotated[str, OneOf(("cpu", "gpu", "cuda", "mps"))] = MISSING
    devices: Count = MISSING
    threads: Count = MISSING
    compile: Annotated[str, OneOf(("none", "inductor", "aot_eager", "cudagraphs"))] = MISSING


@dataclass
class Runtime:
    """Where and how trials run; nothing here changes a number."""

    results: str = MISSING
    slots: Count | None = MISSING
    trials_per_device: Count = MISSING
    smoke: Index = MISSING
    retries: Index = MISSING
    stop_after: Count | None = MISSING
    timeout_minutes: Positive | None = MISSING
    checkpoint_minutes: Annotated[NonNegative, OrInfinite()] = MISSING
    keep_gb: Annotated[NonNegative, OrInfinite()] = MISSING
    failed: Again = MISSING
    unmeasured: Again = MISSING
    elsewhere: Annotated[str, OneOf(("wait", "leave"))] = MISSING
    tracking_uri: str | None = MISSING
    code: Annotated[str, OneOf(("same", "any"))] = MISSING


@dataclass
class Study:
    """A question and how it is to be answered; `seeds` is one of `Seeds`, a union that OmegaConf does not know."""

    name: str | None = None
    question: str = ""
    source: str = ""
    design: Any = MISSING
    factors: dict[str, list[Any]] = field(default_factory=dict)
    seeds: Any = 1
    endpoints: dict[str, str] = field(default_factory=dict)
    expect: dict[str, dict[str, str]] = field(default_factory=dict)
    margin: dict[str, Positive] = field(default_factory=dict)
    tune: dict[str, Any] = field(default_factory=dict)
    exclude: dict[str, str] = field(default_factory=dict)
    allow_seeing_future: bool = False


SECTIONS: dict[str, type] = {"model": Model, "trainer": Trainer, "runtime": Runtime, "study": Study}


@dataclass
class General:
    """What stands in no section; `trial` is the folder that a launcher is to train."""

    layers: Any = None
    knobs: dict[str, dict[str, Any]] = field(default_factory=dict)
    plugins: list[str] = field(default_factory=list)
    budget: Annotated[str, OneOf(("none", "parameters", "flops"))] = MISSING
    batch_size: Count = MISSING
    seed: Seed = MISSING
    seed_offset: Seed = MISSING
    init_seed: Seed = MISSING
    data_seed: Seed = MISSING
    trial: str | None = None


def schema() -> type:
    """The whole configuration: one field a kind, then everything that is no part."""
    fields: list[Any] = [(kind, Any, field(default=MISSING)) for kind in KINDS]
    fields += [("diagnostic", dict[str, Any], field(default_factory=dict))]
    fields += [(name, section, field(default_factory=section)) for name, section in SECTIONS.items()]
    return make_dataclass("Config", [], bases=(General, make_dataclass("Parts", fields)))  # fields of bases: last first


def register_options() -> None:
    """Put the schema and all parts into Hydra's store."""
    store = ConfigStore.instance()
    store.store("schema", schema())
    for kind, registry in KINDS.items():
        for name in registry.names():
            store.store(name, registry.schema(name), group=kind)
    for name in DIAGNOSTICS.names():
        store.store(name, DIAGNOSTICS.schema(name), group="diagnostic", package=f"diagnostic.{name}")
