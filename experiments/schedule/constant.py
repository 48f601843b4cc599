"""One rate, after a warm-up if there is one."""

from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler

from experiments.schedule import level, phased, schedules


@schedules.register("constant")
def constant(optimizer: Optimizer, steps: int, *, warmup: int = 0) -> LRScheduler:
    """lr_t = lr · (t + 1) / warmup for t < warmup, then lr

    Source: Robbins & Monro 1951 for what it lacks; torch.optim.lr_scheduler.ConstantLR.
    """
    return phased(optimizer, steps, warmup, (steps - warmup, level(optimizer)))
