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
from experiments.pool import pool
from experiments.prepare import write_config
from experiments.state import last_line

WORTH = 50  # times the steps tried that a trial must have to be tried


@dataclass(frozen=True)
class Tried:
    """Seconds a step of each arm that ran, and what the others said."""

    seconds: dict[str, float]
    errors: dict[str, str]


def smoke(arms: Mapping[str, Arm], labels: Iterable[str], runtime: Mapping[str, Any], steps: int) -> Tried:
    """Take these steps with these arms, one after the other, and keep nothing."""
    seconds: dict[str, float] = {}
    errors: dict[str, str] = {}
    with tempfile.TemporaryDirectory(prefix="knockout-") as root:
        for number, label in enumerate(labels):
            folder = Path(root) / str(number)
            _, config = arms[label].trial(arms[label].config["seed"])
            few = {"validation_tokens": 4 * config["batch_size"] * config["model"]["context"]}
            data = config["data"] | {knob: number for knob, number in few.items() if knob in config["data"]}
            write_config(folder, config | {"label": label, "data": data})
            devices = pool([config["trainer"]], runtime)
            names = devices.take(folder, config["trainer"]["devices"]) or []
            attempt = begin(folder, Lease(folder, 0), names, len(names), config["code"], steps)
            while attempt.alive():
                attempt.processes[0].join(0.2)
            if (folder / TIMING).exists():
                seconds[label] = json.loads((folder / TIMING).read_text(encoding="utf-8"))
            else:
                errors[label] = attempt.outcome()[1] or last_line(folder)
    return Tried(seconds, errors)


def refuse_broken(arms: Mapping[str, Arm], missing: Iterable[str], runtime: Mapping[str, Any]) -> None:
    """Raises ValueError if an arm that has long trials to train cannot take its first steps."""
    steps = runtime["smoke"]
    long = [label for label in dict.fromkeys(missing) if arms[label].config["trainer"]["max_steps"] >= steps * WORTH]
    errors = smoke(arms, long if steps else [], runtime, steps).errors
    if errors:
        told = "\n".join(f"  {label}: {reason}" for label, reason in errors.items())
        raise ValueError(
            f"{len(errors)} of {len(long)} arms fail within {steps} steps, so nothing was trained:\n{told}\n"
            "mend them or leave them out; runtime.smoke=0 trains the others all the same"
        )
