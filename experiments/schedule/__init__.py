"""Schedules move the learning rate over the steps of a run, over torch's own."""

from collections.abc import Callable
from typing import Protocol

from torch.optim import Optimizer
from torch.optim.lr_scheduler import LinearLR, LRScheduler, SequentialLR

from components.registry import Registry


class Schedule(Protocol):
    """A scheduler that is stepped after each of `steps` optimizer steps; the optimizer's rate is the peak."""

    def __init__(self, optimizer: Optimizer, steps: int) -> None: ...


schedules: Registry[LRScheduler] = Registry(Schedule)


def warmed(optimizer: Optimizer, steps: int, warmup: int, after: Callable[[int], LRScheduler]) -> LRScheduler:
    """lr · (t + 1) / warmup for t < warmup, then what `after` makes of the steps that are left.

    Raises ValueError if the warm-up leaves none.
    """
    if not 0 <= warmup < steps:
        raise ValueError(f"schedule.warmup={warmup} must be at least 0 and below trainer.max_steps={steps}")
    rest = after(steps - warmup)
    if warmup == 0:
        return rest
    rise = LinearLR(optimizer, start_factor=1 / warmup, total_iters=max(1, warmup - 1))
    return SequentialLR(optimizer, [rise, rest], milestones=[warmup])


def fall(optimizer: Optimizer, steps: int, final: float) -> LRScheduler:
    """From the peak to `final` of it, in a line."""
    return LinearLR(optimizer, start_factor=1.0, end_factor=final, total_iters=steps)
