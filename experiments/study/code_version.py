"""The version of the code that a trial's numbers come from."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from components.registry import kinds, options
from experiments.lifecycle.environment import ROOT
from experiments.settings.plugins import parts_digest

# What computes numbers in every trial, apart from its parts: the model that is assembled of them, and how it trains.
# The rest of the room `trial` records, times, signals and keeps; that changes no number.
TRAINING = (
    ROOT / "components" / "model.py",
    *(ROOT / "experiments" / "trial" / f"{name}.py" for name in ("build", "batches", "language_modeling", "fit")),
)


def code_version(config: Mapping[str, Any], asked: Iterable[str]) -> str:
    """A digest of the code that a trial's numbers come from: all of it, and nothing else.

    That is `TRAINING`, the parts of the kinds that its model `asked` for, its data, objective, optimizer and schedule,
    and what all these import (`source_files`): of ours, and of the user's own modules beside a plugin. What does not
    count of a file, messages and comments among it, says `code_digest`.
    """
    return parts_digest(parts_in_use(config, asked), TRAINING)


def parts_in_use(config: Mapping[str, Any], asked: Iterable[str]) -> list[Callable[..., Any]]:
    """The parts of a configuration, in single layers too, without kinds of the model that it never asked for."""
    used = {kind: registry for kind, registry in options("components").items() if kind in set(asked)}
    used |= {kind: registry for kind, registry in kinds("experiments").items() if "name" in config.get(kind, {})}
    changes = [change for layer in (config["layers"] or {}).values() for change in layer.items()]
    return [
        *(registry[config[kind]["name"]] for kind, registry in used.items()),
        *(used[kind][part if isinstance(part, str) else part["name"]] for kind, part in changes if kind in used),
    ]
