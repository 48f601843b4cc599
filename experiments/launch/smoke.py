"""A few steps of every arm before anything is spent: a bug in the seventh arm shows at once, and so does the time."""

import json
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from analysis.record.layout import TIMING
from experiments.instruments.cost import GB
from experiments.launch.devices import device_pool
from experiments.launch.process import start_attempt
from experiments.launch.resources import free_memory
from experiments.lifecycle.lease import acquire
from experiments.study.arm import Arm
from experiments.study.write import write_trial_config
from experiments.trial.build import Config

SMOKE_WORTH_STEPS = 50  # times the steps tried that a trial must have to be tried


@dataclass(frozen=True)
class SmokeResult:
    """Of each arm that ran its seconds per step and its peak memory in bytes; of each that failed the reason."""

    seconds: dict[str, float]
    memory: dict[str, float]
    errors: dict[str, str]


def take_smoke_steps(arms: Mapping[str, Arm], labels: Iterable[str], runtime: Config, steps: int) -> SmokeResult:
    """Take these steps with these arms, one after the other, and keep nothing."""
    tried = SmokeResult({}, {}, {})
    with tempfile.TemporaryDirectory(prefix="knockout-") as root:
        for number, label in enumerate(labels):
            folder = Path(root) / str(number)
            _, config = arms[label].trial(arms[label].config["seed"])
            few = {"validation_tokens": 4 * config["batch_size"] * config["model"]["context"]}
            data = config["data"] | {knob: number for knob, number in few.items() if knob in config["data"]}
            write_trial_config(folder, config | {"label": label, "data": data})
            devices = device_pool([config["trainer"]], runtime)
            names = devices.take(folder, config["trainer"]["devices"]) or []
            lease = acquire(folder)
            assert lease is not None, "nobody else knows of a temporary folder"
            attempt = start_attempt(lease, names, config["code"], steps=steps)
            while attempt.poll():
                attempt.processes[0].join(0.2)
            if (folder / TIMING).exists():
                taken = json.loads((folder / TIMING).read_text(encoding="utf-8"))
                tried.seconds[label], tried.memory[label] = taken["seconds"], taken["memory"]
            else:
                tried.errors[label] = attempt.outcome().reason
    return tried


def refuse_failing_arms(arms: Mapping[str, Arm], missing: Iterable[str], runtime: Config) -> SmokeResult:
    """What the arms that have long trials to train take. Raises ValueError if one cannot take its first steps."""
    steps = runtime["smoke"]
    long = [
        label
        for label in dict.fromkeys(missing)
        if arms[label].config["trainer"]["max_steps"] >= steps * SMOKE_WORTH_STEPS
    ]
    tried = take_smoke_steps(arms, long if steps else [], runtime, steps)
    if tried.errors:
        reasons = "\n".join(f"  {label}: {reason}" for label, reason in tried.errors.items())
        raise ValueError(
            f"{len(tried.errors)} of {len(long)} arms fail within {steps} steps, so nothing was trained:\n{reasons}\n"
            "mend them or leave them out; runtime.smoke=0 trains the others all the same"
        )
    return tried


def memory_warning(arms: Mapping[str, Arm], tried: SmokeResult, runtime: Config) -> str:
    """A line if as many trials at a time as there are places would need more memory than is free; else nothing."""
    if not tried.memory:
        return ""
    trainers = [arms[label].config["trainer"] for label in tried.memory]
    devices, most, left = (
        device_pool(trainers, runtime),
        max(tried.memory.values()),
        free_memory(trainers[0]["accelerator"]),
    )
    together = min(devices.trials, max(devices.free.values()))
    if together * most <= left:
        return ""
    return (
        f"{together} trials at a time would hold up to {together * most / GB:.3g} GB of memory, {left / GB:.3g} GB are "
        f"free: {max(1, int(left // most))} have room; see runtime.slots, and on GPUs runtime.trials_per_device"
    )
