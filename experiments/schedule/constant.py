"""One rate, after a warm-up if there is one."""

from torch.optim import Optimizer
from torch.optim.lr_scheduler import ConstantLR, LRScheduler

from experiments.schedule import schedules, warmed


@schedules.register("constant")
def constant(optimizer: Optimizer, steps: int, *, warmup: int = 0) -> LRScheduler:
    """lr_t = lr · (t + 1) / warmup for t < warmup, then lr

    Source: Robbins & Monro 1951 for what it lacks; torch.optim.lr_scheduler.ConstantLR.
    """
    return warmed(optimizer, steps, warmup, lambda rest: ConstantLR(optimizer, factor=1.0, total_iters=rest))
