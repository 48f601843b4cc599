"""The devices of this machine, shared out among trials so that no two have the same one unless told to."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

import torch

from experiments.study.arm import Arm
from experiments.trial.build import Config

VISIBLE_DEVICES = "CUDA_VISIBLE_DEVICES"


@dataclass
class DevicePool:
    """What is free: device names, each as often as trials may share it; on CPUs a nameless place for each process.

    `trials` is how many run at a time at most, whatever is free.
    """

    free: Counter[str]
    trials: int
    taken: dict[Hashable, list[str]] = field(default_factory=dict)

    def take(self, trial: Hashable, devices: int) -> list[str] | None:
        """The names of so many devices, the least shared first, or None until enough are free."""
        if len(self.taken) >= self.trials:
            return None
        names = [name for name, _ in self.free.most_common()] if "" not in self.free else [""] * self.free[""]
        names = [name for name in names if self.free[name] > 0][:devices]
        if len(names) < devices:
            return None
        self.free.subtract(names)
        self.taken[trial] = names
        return names

    def release(self, trial: Hashable) -> None:
        """The trial's devices are free again."""
        self.free.update(self.taken.pop(trial))

    def most_others_on_device(self, trials: int) -> int:
        """How many of so many trials may run on a device beside another, while all are free."""
        return min(trials, self.trials, max(self.free.values())) - 1

    def shares_device(self, trial: Hashable) -> bool:
        """Whether another trial runs on a device of this one's."""
        own = set(self.taken[trial])
        return any(own & set(names) for other, names in self.taken.items() if other != trial)


def device_pool(trainers: list[Config], runtime: Config) -> DevicePool:
    """What this machine has for trials with these settings.

    Raises ValueError if one of them asks for more devices than there are.
    """
    most, slots = max(trainer["devices"] for trainer in trainers), runtime["slots"]
    if trainers[0]["accelerator"] in ("cpu", "mps"):
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        room = max(most, cores // max(trainer["threads"] for trainer in trainers))
        return DevicePool(Counter({"": slots * most if slots else room}), slots or room)
    names = visible_gpus()
    if most > len(names):
        shown = f"{VISIBLE_DEVICES}={os.environ[VISIBLE_DEVICES]}" if VISIBLE_DEVICES in os.environ else "this machine"
        raise ValueError(f"trainer.devices={most}: {shown} shows {len(names)} GPUs")
    places = Counter(dict.fromkeys(names, runtime["trials_per_device"]))
    return DevicePool(places, slots or places.total())


def visible_gpus() -> list[str]:
    """The GPUs that this process may use, by the names that the mask has for them."""
    if VISIBLE_DEVICES in os.environ:
        return [name.strip() for name in os.environ[VISIBLE_DEVICES].split(",") if name.strip()]
    return [str(number) for number in range(torch.cuda.device_count())]


def refuse_shared_devices(study: Config, arms: Sequence[Arm], runtime: Config) -> None:
    """An endpoint that depends on what else runs on a device, where these arms' trials would run beside each other."""
    timed = [name for name in study["endpoints"] if any(arm.measures.get(name) == "alone" for arm in arms)]
    if timed and (
        beside := device_pool([arm.config["trainer"] for arm in arms], runtime).most_others_on_device(len(arms))
    ):
        raise ValueError(
            f"the study's endpoint {timed[0]} depends on what else runs on the device, and up to {beside + 1} trials "
            "would share one; type runtime.slots=1, or on GPUs runtime.trials_per_device=1"
        )
