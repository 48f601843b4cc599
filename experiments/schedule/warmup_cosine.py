"""Up in a line, down in half a cosine."""

from torch.optim import Optimizer
from torch.optim.lr_scheduler import CosineAnnealingLR, LinearLR, LRScheduler, SequentialLR

from experiments.schedule import schedules


@schedules.register("warmup_cosine")
def warmup_cosine(optimizer: Optimizer, steps: int, *, warmup: int = 50, final: float = 0.1) -> LRScheduler:
    """lr_t = lr · (t + 1) / warmup for t < warmup, then lr · (final + (1 − final) · (1 + cos πu) / 2), u from 0 to 1

    `warmup` counts steps; `final` is the last rate as a share of the peak.
    Raises ValueError if the warm-up leaves no step to anneal in.
    Source: Loshchilov & Hutter 2016, arXiv:1608.03983, eq. 5; the warm-up as in GPT-2 and GPT-3.
    """
    if not 0 <= warmup < steps:
        raise ValueError(f"schedule.warmup={warmup} must be at least 0 and below trainer.max_steps={steps}")
    rate = optimizer.param_groups[0]["lr"]
    cosine = CosineAnnealingLR(optimizer, T_max=steps - warmup, eta_min=final * rate)
    if warmup == 0:
        return cosine
    line = (
        LinearLR(optimizer, start_factor=1 / warmup, total_iters=warmup - 1)
        if warmup > 1
        else LinearLR(optimizer, 1.0, total_iters=1)
    )
    return SequentialLR(optimizer, [line, cosine], milestones=[warmup])
