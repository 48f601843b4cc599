"""The devices of this machine, shared out among trials so that no two have the same one unless told to."""

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import torch

MASK = "CUDA_VISIBLE_DEVICES"


@dataclass
class Pool:
    """What is free: device names, each as often as trials may share it; on CPUs a nameless place for each process.

    `trials` is how many run at a time at most, whatever is free.
    """

    free: Counter[str]
    trials: int
    given: dict[Any, list[str]] = field(default_factory=dict)

    def take(self, trial: Any, devices: int) -> list[str] | None:
        """The names of so many devices, the least shared first, or None until enough are free."""
        if len(self.given) >= self.trials:
            return None
        names = [name for name, _ in self.free.most_common()] if "" not in self.free else [""] * self.free[""]
        names = [name for name in names if self.free[name] > 0][:devices]
        if len(names) < devices:
            return None
        self.free.subtract(names)
        self.given[trial] = names
        return names

    def give(self, trial: Any) -> None:
        """The trial's devices are free again."""
        self.free.update(self.given.pop(trial))

    def beside(self, trials: int) -> int:
        """How many of so many trials may run on a device beside another, while all are free."""
        return min(trials, self.trials, max(self.free.values())) - 1

    def shares(self, trial: Any) -> bool:
        """Whether another trial runs on a device of this one's."""
        own = set(self.given[trial])
        return any(own & set(names) for other, names in self.given.items() if other != trial)


def pool(trainers: list[Mapping[str, Any]], runtime: Mapping[str, Any]) -> Pool:
    """What this machine has for trials with these settings.

    Raises ValueError if one of them asks for more devices than there are.
    """
    most, slots = max(trainer["devices"] for trainer in trainers), runtime["slots"]
    if trainers[0]["accelerator"] in ("cpu", "mps"):
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        room = max(most, cores // max(trainer["threads"] for trainer in trainers))
        return Pool(Counter({"": slots * most if slots else room}), slots or room)
    names = visible()
    if most > len(names):
        shown = f"{MASK}={os.environ[MASK]}" if MASK in os.environ else "this machine"
        raise ValueError(f"trainer.devices={most}: {shown} shows {len(names)} GPUs")
    places = Counter(dict.fromkeys(names, runtime["trials_per_device"]))
    return Pool(places, slots or places.total())


def visible() -> list[str]:
    """The GPUs that this process may use, by the names that the mask has for them."""
    if MASK in os.environ:
        return [name.strip() for name in os.environ[MASK].split(",") if name.strip()]
    return [str(number) for number in range(torch.cuda.device_count())]
