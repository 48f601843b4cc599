"""What a study cannot mean, said before anything trains."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from components.registry import unknown
from experiments.settings.schema import KINDS

COMPILERS = ("none", "inductor", "aot_eager", "cudagraphs")


CHOICES = {
    "code": ("same", "any"),
    "failed": ("again", "leave"),
    "unmeasured": ("leave", "again"),
    "elsewhere": ("wait", "leave"),
}


COUNTS = ("max_steps", "devices", "val_check_interval", "accumulate_grad_batches", "threads")


def refuse_clashes(factors: Mapping[str, Any], axes: Mapping[str, Any], fixed: list[str]) -> None:
    """What is set twice, and factors or axes that are no setting of an arm."""
    roots = (*KINDS, "model", "layers", "trainer", "batch_size", "seed_offset", "init_seed", "data_seed", "diagnostic")
    for factor in factors:
        if factor in axes or factor in fixed:
            raise ValueError(f"{factor} is a factor of this study and on the command line too; leave one of them out")
    for factor in (*factors, *axes):
        root = factor.lstrip("+").partition(".")[0]
        if root == "study" and "." not in factor:
            raise ValueError("studies are run one by one: a command for each")
        if root == "seed":
            raise ValueError("seed is no factor: every arm runs under the same seeds; set study.seeds")
        if root not in roots or factor == "model":
            raise ValueError(f"{factor} makes no arms: {unknown('setting of an arm', root, roots)}")


def refuse_unknown_exclusions(excluded: Iterable[str], trials: Collection[str]) -> None:
    """Exclusions that are no trial of the study, by the first digits of its id, or may be several."""
    for id in map(str, excluded):
        meant = [trial for trial in trials if trial.startswith(id)]
        if not meant:
            raise ValueError(f"study.exclude: {unknown('trial', id, trials)}")
        if len(meant) > 1:
            raise ValueError(f"study.exclude: {id} is the beginning of {len(meant)} trials: {', '.join(meant)}")


def refuse_invalid_settings(config: Mapping[str, Any]) -> None:
    """Raises ValueError for numbers that no trial can run with, or whose results would not be what they seem."""
    trainer = config["trainer"]
    counts = {f"trainer.{name}": trainer[name] for name in COUNTS} | {"batch_size": config["batch_size"]}
    counts["runtime.trials_per_device"] = config["runtime"]["trials_per_device"]
    if config["runtime"]["slots"] is not None:
        counts["runtime.slots"] = config["runtime"]["slots"]
    for setting, words in CHOICES.items():
        if config["runtime"][setting] not in words:
            raise ValueError(f"runtime.{setting}: {unknown('choice', config['runtime'][setting], words)}")
    for name, number in counts.items():
        if number < 1:
            raise ValueError(f"{name}={number}: must be at least 1")
    if config["batch_size"] % trainer["devices"]:
        raise ValueError(f"trainer.devices={trainer['devices']} cannot share batch_size={config['batch_size']} evenly")
    if trainer["compile"] not in COMPILERS:
        raise ValueError(f"trainer.compile: {unknown('backend', trainer['compile'], COMPILERS)}")
    if trainer["precision"] == "16-mixed":
        raise ValueError("trainer.precision=16-mixed scales gradients, whose norms would be wrong; take bf16-mixed")
