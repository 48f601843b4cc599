"""Up, level, down."""

from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler

from experiments.schedule import fall, level, phased, schedules


@schedules.register("wsd")
def wsd(optimizer: Optimizer, steps: int, *, warmup: int = 50, decay: float = 0.2, final: float = 0.0) -> LRScheduler:
    """lr_t = lr · (t + 1) / warmup for t < warmup, then lr, and over the last share `decay` of steps down to final · lr

    Raises ValueError if decay and warm-up leave no room for each other.
    Source: Hu et al. 2024 (MiniCPM), arXiv:2404.06395, eq. 1, with a line for the decay.
    """
    falling = round(decay * steps)
    if not 0 < falling <= steps - warmup:
        room = f"with schedule.warmup={warmup} it must be 1 to {steps - warmup}"
        raise ValueError(f"schedule.decay={decay} of {steps} steps is {falling}; {room}")

    flat = (steps - warmup - falling, level(optimizer))
    return phased(optimizer, steps, warmup, flat, (falling, fall(optimizer, final)))
