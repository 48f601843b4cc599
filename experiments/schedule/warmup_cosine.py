"""Up in a line, down in half a cosine."""

from torch.optim import Optimizer
from torch.optim.lr_scheduler import CosineAnnealingLR, LRScheduler

from experiments.schedule import schedules, warmed


@schedules.register("warmup_cosine")
def warmup_cosine(optimizer: Optimizer, steps: int, *, warmup: int = 50, final: float = 0.1) -> LRScheduler:
    """lr_t = lr · (t + 1) / warmup for t < warmup, then lr · (final + (1 − final) · (1 + cos πu) / 2), u from 0 to 1

    `warmup` counts steps; `final` is the last rate as a share of the peak.
    Source: Loshchilov & Hutter 2016, arXiv:1608.03983, eq. 5; the warm-up as in GPT-2 and GPT-3.
    """
    floor = final * optimizer.param_groups[0]["lr"]
    return warmed(optimizer, steps, warmup, lambda rest: CosineAnnealingLR(optimizer, T_max=rest, eta_min=floor))
