"""Up in a line, down in half a cosine."""

from functools import partial

from torch.optim import Optimizer
from torch.optim.lr_scheduler import CosineAnnealingLR, LRScheduler

from experiments.schedule import phased, schedules


@schedules.register("warmup_cosine")
def warmup_cosine(optimizer: Optimizer, steps: int, *, warmup: int = 50, final: float = 0.1) -> LRScheduler:
    """lr_t = lr · (t + 1) / warmup for t < warmup, then lr · (final + (1 − final) · (1 + cos πu) / 2), u from 0 to 1

    `warmup` counts steps; `final` is the share of the peak that it falls to.
    Source: Loshchilov & Hutter 2016, arXiv:1608.03983, eq. 5; the warm-up as in GPT-2 and GPT-3.
    """
    floor = final * optimizer.param_groups[0]["lr"]
    cosine = partial(CosineAnnealingLR, optimizer, eta_min=floor)
    return phased(optimizer, steps, warmup, (steps - warmup, cosine))
