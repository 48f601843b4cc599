"""Schedules move the learning rate over the steps of a run, over torch's own."""

from typing import Protocol

from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler

from components.registry import Registry


class Schedule(Protocol):
    """A scheduler that is stepped after each of `steps` optimizer steps; the optimizer's rate is the peak."""

    def __init__(self, optimizer: Optimizer, steps: int) -> None: ...


schedules: Registry[LRScheduler] = Registry(Schedule)
