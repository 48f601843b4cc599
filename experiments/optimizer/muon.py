"""Momentum made orthogonal, for the matrices inside layers; AdamW for everything else."""

from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.optim import AdamW, Optimizer

from components.linear import Linear
from experiments.optimizer import Decay, decayed, optimizers


class Pair(Optimizer):
    """Two optimizers that are stepped as one; their groups are these groups, so that a schedule moves both."""

    def __init__(self, first: Optimizer, second: Optimizer) -> None:
        self.both = (first, second)
        super().__init__([*first.param_groups, *second.param_groups], {})

    def step(self, closure: Callable[[], Any] | None = None) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Both, after one evaluation of the closure."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for optimizer in self.both:
            optimizer.step()
        return loss

    def state_dict(self) -> dict[str, Any]:
        """That of each."""
        return {"both": [optimizer.state_dict() for optimizer in self.both]}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Each its own; their groups stay these groups."""
        for optimizer, state in zip(self.both, state_dict["both"], strict=True):
            optimizer.load_state_dict(state)
        self.param_groups = [group for optimizer in self.both for group in optimizer.param_groups]


@optimizers.register("muon")
def muon(
    model: nn.Module,
    *,
    lr: float = 3e-3,
    momentum: float = 0.95,
    betas: tuple[float, float] = (0.9, 0.95),
    weight_decay: float = 0.1,
    decay: Decay = Decay.matrices,
) -> Optimizer:
    """W ← W − lr · 0.2 √max(rows, columns) · NewtonSchulz(momentum of g), decoupled decay; AdamW beside it

    Raises ValueError if the layers have no linear map.
    The factor gives updates the size of AdamW's, so that one rate serves both.
    Source: Jordan et al. 2024, Muon; the factor, Liu et al. 2025, arXiv:2502.16982, section 2.2; torch.optim.Muon.
    """
    layers = getattr(model, "layers", model)
    inner = [p for m in layers.modules() if isinstance(m, Linear) for p in m.parameters() if p.ndim == 2]
    if not inner:
        raise ValueError("optimizer=muon is for linear maps in layers, and this model has none; take optimizer=adamw")
    outer = decayed(model, weight_decay, decay, without=inner)
    orthogonal: Any = torch.optim.Muon
    first = orthogonal(inner, lr=lr, momentum=momentum, weight_decay=weight_decay, adjust_lr_fn="match_rms_adamw")
    return Pair(first, AdamW(outer, lr=lr, betas=betas, fused=True)) if outer else first
