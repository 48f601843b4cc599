"""What a study cannot mean, said before anything trains."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from components.registry import unknown
from experiments.options import KINDS
from experiments.pool import pool

if TYPE_CHECKING:
    from experiments.identity import Arm

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


def refuse_crowded(study: Mapping[str, Any], arms: Sequence[Arm], runtime: Mapping[str, Any]) -> None:
    """An endpoint that depends on what else runs on a device, where these arms' trials would run beside each other."""
    timed = [name for name in study["endpoints"] if any(arm.measures.get(name) == "alone" for arm in arms)]
    if timed and (beside := pool([arm.config["trainer"] for arm in arms], runtime).beside(len(arms))):
        raise ValueError(
            f"the study's endpoint {timed[0]} depends on what else runs on the device, and up to {beside + 1} trials "
            "would share one; type runtime.slots=1, or on GPUs runtime.trials_per_device=1"
        )


def refuse_strangers(excluded: Iterable[str], trials: Collection[str]) -> None:
    """Exclusions that are no trial of the study, by the first digits of its id, or may be several."""
    for id in map(str, excluded):
        meant = [trial for trial in trials if trial.startswith(id)]
        if not meant:
            raise ValueError(f"study.exclude: {unknown('trial', id, trials)}")
        if len(meant) > 1:
            raise ValueError(f"study.exclude: {id} is the beginning of {len(meant)} trials: {', '.join(meant)}")


def refuse_clones(arms: Mapping[str, Arm], seeds: list[int]) -> None:
    """Seeds that are the same, or that change nothing: one trial would count as several."""
    if len(set(seeds)) < len(seeds):
        raise ValueError(f"the seeds {seeds} are not all different: one trial would count as several")
    for label, arm in arms.items():
        if len(seeds) > 1 and set(arm.seeded) <= {"seed"}:
            raise ValueError(
                f"{label}: seed changes nothing, as init_seed and data_seed are fixed; leave one to follow it"
            )


def refuse_bad_numbers(config: Mapping[str, Any]) -> None:
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
