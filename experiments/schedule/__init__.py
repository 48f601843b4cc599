"""Schedules move the learning rate over the steps of a run, over torch's own."""

from collections.abc import Callable
from itertools import accumulate
from typing import Protocol

from torch.optim import Optimizer
from torch.optim.lr_scheduler import ConstantLR, LinearLR, LRScheduler, SequentialLR

from components.registry import Registry


class Schedule(Protocol):
    """A scheduler that is stepped after each of `steps` optimizer steps; the optimizer's rate is the peak."""

    def __init__(self, optimizer: Optimizer, steps: int) -> None: ...


schedules: Registry[LRScheduler] = Registry(Schedule)


Phase = Callable[[int], LRScheduler]


def phased(optimizer: Optimizer, steps: int, warmup: int, *after: tuple[int, Phase]) -> LRScheduler:
    """lr · (t + 1) / warmup for t < warmup, then each phase for its number of steps; phases of no steps are left out.

    Raises ValueError if the warm-up leaves no step.
    """
    if not 0 <= warmup < steps:
        raise ValueError(f"schedule.warmup={warmup} must be at least 0 and below trainer.max_steps={steps}")
    phases = [(length, phase(length)) for length, phase in ((warmup, rise(optimizer)), *after) if length > 0]
    if len(phases) == 1:
        return phases[0][1]
    milestones = list(accumulate(length for length, _ in phases))[:-1]
    return SequentialLR(optimizer, [phase for _, phase in phases], milestones=milestones)


def rise(optimizer: Optimizer) -> Phase:
    """From a share of the peak to the peak, in a line."""
    return lambda steps: LinearLR(optimizer, start_factor=1 / steps, total_iters=max(1, steps - 1))


def fall(optimizer: Optimizer, final: float) -> Phase:
    """From the peak to `final` of it, in a line."""
    return lambda steps: LinearLR(optimizer, start_factor=1.0, end_factor=final, total_iters=steps)


def level(optimizer: Optimizer) -> Phase:
    """The peak."""
    return lambda steps: ConstantLR(optimizer, factor=1.0, total_iters=steps)
