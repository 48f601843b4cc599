"""How much of a batch's gradient is noise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from components.model import Decoder
from experiments.data import IGNORED
from experiments.diagnostic import Diagnostic, diagnostics
from experiments.measure import Measure

if TYPE_CHECKING:
    from experiments.task import LanguageModeling


@diagnostics.register("noise_scale")
class NoiseScale(Diagnostic):
    """Gradient noise scale tr Σ / |G|² in sequences, out of the gradients of a step's batch and of a part of it

    |G|² ≈ (B |g_B|² − b |g_b|²) / (B − b) and tr Σ ≈ (|g_b|² − |g_B|²) / (1/b − 1/B) for B and b sequences, each
    averaged over samples with weights that fall by `decay` from one to the next; the ratio is of these averages.
    Source: McCandlish et al. 2018, arXiv:1812.06162, appendix A.1.
    """

    def __init__(self, *, every: int = 50, decay: float = 0.9) -> None:
        self.every, self.decay = every, decay
        self._noise, self._signal = [], []

    def measures(self, model: Decoder) -> Sequence[Measure]:
        """Both estimates, and the ratio of their averages."""
        parts = [Measure(f"noise_scale/{name}", "(nats/token)²", reduction="mean") for name in ("noise", "signal")]
        return [Measure("noise_scale", "sequences"), *parts]

    def on_fit_start(self, task: LanguageModeling) -> None:
        """What an interrupted trial has recorded goes on to count."""
        self._noise, self._signal = (list(task.recorder.series(f"noise_scale/{n}")) for n in ("noise", "signal"))

    def on_before_optimizer_step(self, task: LanguageModeling) -> None:
        if task.step % self.every:
            return
        pieces, sequences = task.trainer.accumulate_grad_batches, len(task.batch.inputs)
        small, big = max(1, sequences // 2), sequences * pieces * task.rank.world
        if small == big:
            return
        of_big = task.gradient_norms().double().square().sum()
        noise, signal = estimates(of_big, _of_part(task, small), big, small)
        self._noise.append(noise)
        self._signal.append(signal)
        task.recorder.record("noise_scale/noise", noise)
        task.recorder.record("noise_scale/signal", signal)
        task.recorder.record("noise_scale", self._average(self._noise) / self._average(self._signal))

    def _average(self, values: Sequence[Tensor]) -> Tensor:
        """Weights decay into the past and add up to 1."""
        weights = self.decay ** torch.arange(len(values) - 1, -1, -1, dtype=torch.float64)
        return weights @ torch.stack([value.double().cpu() for value in values]) / weights.sum()


def estimates(of_big: Tensor, of_small: Tensor, big: int, small: int) -> tuple[Tensor, Tensor]:
    """tr Σ and |G|², without bias, from E|g_B|² = |G|² + tr Σ / B."""
    return (of_small - of_big) / (1 / small - 1 / big), (big * of_big - small * of_small) / (big - small)


@torch.enable_grad()
def _of_part(task: LanguageModeling, size: int) -> Tensor:
    """|g|² of the first `size` sequences; what is dropped meanwhile leaves no trace."""
    inputs, targets = task.batch.inputs[:size], task.batch.targets[:size]
    parameters = [p for p in task.model.parameters() if p.requires_grad]
    devices = [task.device] if task.device.type == "cuda" else []
    with torch.random.fork_rng(devices), task.trainer.precision_plugin.forward_context():
        logits, scored = task.model.forward(inputs), (targets != IGNORED).sum().clamp_min(1)
        loss = task.objective(logits, targets).sum() / scored + task.objective.penalty(logits, targets, scored)
    found = torch.autograd.grad(loss, parameters, allow_unused=True)
    return torch.stack([g.double().square().sum() for g in found if g is not None]).sum()
