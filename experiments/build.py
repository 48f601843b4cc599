"""From a plain configuration to the objects it names."""

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler

from components.model import Decoder, assemble
from components.parts import Parts, Sizes
from experiments.data import Data, datas
from experiments.diagnostic import Diagnostic, diagnostics
from experiments.measure import Measure, always
from experiments.objective import Objective, objectives
from experiments.optimizer import optimizers
from experiments.schedule import schedules

Config = Mapping[str, Any]


def data(config: Config) -> Data:
    """The data; loaded once a process for each way of asking."""
    return data_at(config, config["model"]["context"])


def data_at(config: Config, context: int) -> Data:
    """The data in sequences of another length."""
    return _data(tuple(sorted(config["data"].items())), context)


@lru_cache(maxsize=8)
def _data(knobs: tuple[tuple[str, Any], ...], context: int) -> Data:
    given = dict(knobs)
    if given.get("path") is not None:
        given["path"] = Path(given["path"])
    return datas.build(given)(context)


def model(config: Config, vocabulary: int, device: str = "cpu") -> tuple[Decoder, set[str]]:
    """The model, and the kinds that it asked for while it was built; on the device `meta` without weights."""
    parts = Parts(config, config["layers"])
    numbers = {name: number for name, number in config["model"].items() if number is not None}
    with torch.device(device):
        decoder = assemble(Sizes(vocabulary=vocabulary, **numbers), parts, config["init_seed"])
    return decoder, parts.asked


def cost(config: Config, measure: Callable[[Decoder], float]) -> float:
    """What the model costs that a configuration describes, without its weights."""
    added = objectives.build(config["objective"])().extra_tokens
    return measure(model(config, data(config).vocabulary + added, device="meta")[0])


def training(config: Config) -> tuple[Objective, Callable[[nn.Module], Optimizer], Callable[[Optimizer], LRScheduler]]:
    """What to minimise, by what, and how its rate moves over the steps."""
    schedule, steps = schedules.build(config["schedule"]), config["trainer"]["max_steps"]
    return (
        objectives.build(config["objective"])(),
        optimizers.build(config["optimizer"]),
        lambda optimizer: schedule(optimizer, steps),
    )


def watchers(config: Config) -> list[Diagnostic]:
    """The diagnostics."""
    return [diagnostics.build(knobs)() for knobs in config["diagnostic"].values()]


def measures(data: Data, watching: Iterable[Diagnostic], model: Decoder) -> list[Measure]:
    """All that a trial measures: what its data say of training, and what its diagnostics declare of its model."""
    return [*always(data.solved_at), *(measure for watcher in watching for measure in watcher.measures(model))]
