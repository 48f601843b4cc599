"""A few steps of every arm before anything is spent: a bug in the seventh arm shows at once, and so does the time."""

import json
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from experiments.attempt import begin
from experiments.checkpoint import TIMING
from experiments.identity import Arm
from experiments.lease import Lease
from experiments.memory import GB, free
from experiments.pool import pool
from experiments.prepare import write_config
from experiments.state import last_line

WORTH = 50  # times the steps tried that a trial must have to be tried


@dataclass(frozen=True)
class Tried:
    """Seconds a step of each arm that ran and the most bytes it held, and what the others said."""

    seconds: dict[str, float]
    memory: dict[str, float]
    errors: dict[str, str]


def smoke(arms: Mapping[str, Arm], labels: Iterable[str], runtime: Mapping[str, Any], steps: int) -> Tried:
    """Take these steps with these arms, one after the other, and keep nothing."""
    tried = Tried({}, {}, {})
    with tempfile.TemporaryDirectory(prefix="knockout-") as root:
        for number, label in enumerate(labels):
            folder = Path(root) / str(number)
            _, config = arms[label].trial(arms[label].config["seed"])
            few = {"validation_tokens": 4 * config["batch_size"] * config["model"]["context"]}
            data = config["data"] | {knob: number for knob, number in few.items() if knob in config["data"]}
            write_config(folder, config | {"label": label, "data": data})
            devices = pool([config["trainer"]], runtime)
            names = devices.take(folder, config["trainer"]["devices"]) or []
            attempt = begin(folder, Lease(folder, 0), names, config["code"], steps=steps)
            while attempt.alive():
                attempt.processes[0].join(0.2)
            if (folder / TIMING).exists():
                taken = json.loads((folder / TIMING).read_text(encoding="utf-8"))
                tried.seconds[label], tried.memory[label] = taken["seconds"], taken["memory"]
            else:
                tried.errors[label] = attempt.outcome()[1] or last_line(folder)
    return tried


def refuse_broken(arms: Mapping[str, Arm], missing: Iterable[str], runtime: Mapping[str, Any]) -> Tried:
    """What the arms that have long trials to train take. Raises ValueError if one cannot take its first steps."""
    steps = runtime["smoke"]
    long = [label for label in dict.fromkeys(missing) if arms[label].config["trainer"]["max_steps"] >= steps * WORTH]
    tried = smoke(arms, long if steps else [], runtime, steps)
    if tried.errors:
        told = "\n".join(f"  {label}: {reason}" for label, reason in tried.errors.items())
        raise ValueError(
            f"{len(tried.errors)} of {len(long)} arms fail within {steps} steps, so nothing was trained:\n{told}\n"
            "mend them or leave them out; runtime.smoke=0 trains the others all the same"
        )
    return tried


def crowding(arms: Mapping[str, Arm], tried: Tried, runtime: Mapping[str, Any]) -> str:
    """A line if as many trials at a time as there are places would need more memory than is free; else nothing."""
    if not tried.memory:
        return ""
    trainers = [arms[label].config["trainer"] for label in tried.memory]
    devices, most, left = pool(trainers, runtime), max(tried.memory.values()), free(trainers[0]["accelerator"])
    together = min(devices.trials, max(devices.free.values()))
    if together * most <= left:
        return ""
    return (
        f"{together} trials at a time would hold up to {together * most / GB:.3g} GB of memory, {left / GB:.3g} GB are "
        f"free: {max(1, int(left // most))} have room; see runtime.slots, and on GPUs runtime.trials_per_device"
    )
