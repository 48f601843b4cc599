"""Adam with decoupled weight decay."""

from torch import nn
from torch.optim import AdamW

from experiments.optimizer import Decay, decayed, optimizers


@optimizers.register("adamw")
def adamw(
    model: nn.Module,
    *,
    lr: float = 3e-3,
    betas: tuple[float, float] = (0.9, 0.95),
    weight_decay: float = 0.1,
    eps: float = 1e-8,
    decay: Decay = Decay.matrices,
) -> AdamW:
    """w ← w − lr · (m̂ / (√v̂ + eps) + weight_decay · w), the last only for weights that `decay` names

    Source: Loshchilov & Hutter 2017, arXiv:1711.05101, algorithm 2; decay multiplied by lr, as torch does.
    """
    return AdamW(decayed(model, weight_decay, decay), lr=lr, betas=betas, eps=eps, fused=True)
