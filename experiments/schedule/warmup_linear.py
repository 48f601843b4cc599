"""Up in a line, down in a line."""

from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler

from experiments.schedule import fall, phased, schedules


@schedules.register("warmup_linear")
def warmup_linear(optimizer: Optimizer, steps: int, *, warmup: int = 50, final: float = 0.0) -> LRScheduler:
    """lr_t = lr · (t + 1) / warmup for t < warmup, then lr · (1 − (1 − final) · u), u from 0 to 1

    `warmup` counts steps; `final` is the share of the peak that it falls to.
    Source: Devlin et al. 2018, arXiv:1810.04805, appendix A.2.
    """
    return phased(optimizer, steps, warmup, (steps - warmup, fall(optimizer, final)))
