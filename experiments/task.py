"""The Lightning module: batches in, loss out, and nothing else. Parts and diagnostics live elsewhere."""

from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import lightning as L
import torch
from lightning.pytorch.utilities.types import OptimizerLRSchedulerConfig
from torch import Tensor
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler
from torch.utils.data import IterableDataset

from components.initialise import key
from components.model import Decoder
from experiments.data import IGNORED, Batch, Data
from experiments.diagnostic import Diagnostic
from experiments.objective import Objective
from experiments.recorder import Recorder


class LanguageModeling(L.LightningModule):
    """Minimise the objective's mean over scored tokens; validation is their mean over the whole set."""

    def __init__(
        self,
        model: Decoder,
        objective: Objective,
        optimizer: Callable[[Decoder], Optimizer],
        schedule: Callable[[Optimizer], LRScheduler],
        seed: int,
        solved_at: float | None = None,
    ) -> None:
        super().__init__()
        self.model = model
        self.objective = objective
        self.seed, self.solved_at = seed, solved_at
        self._was_solved, self._validated = False, -1
        self.recorder: Recorder
        self.sequences: Callable[[int], list[Batch]]
        self._optimizer, self._schedule = optimizer, schedule
        self._norms: Tensor | None = None
        self.tokens = 0
        self._held_out: list[Tensor] = []

    def training_step(self, batch: Batch, index: int) -> Tensor:
        self._reseed(index)
        logits = self.model(batch.inputs)
        self._norms = None
        self.tokens += batch.targets.numel()
        self.recorder.at(self.global_step + 1, self.tokens)
        loss = self.objective(logits, batch.targets).sum() / batch.scored
        self.recorder.record("train/loss", loss)
        return loss + self.objective.penalty(logits, batch.targets) if self.objective.z_loss else loss

    def _reseed(self, index: int) -> None:
        """What is dropped depends on (seed, step) alone. torch.manual_seed would cost a stack trace an accelerator."""
        number = key("dropout", self.seed, index)
        torch.default_generator.manual_seed(number)
        if self.device.type == "cuda":
            torch.cuda.manual_seed(number)

    def on_before_optimizer_step(self, optimizer: Optimizer) -> None:
        self.recorder.record("learning_rate", torch.tensor(optimizer.param_groups[0]["lr"], device=self.device))

    def on_train_batch_end(self, outputs: object, batch: Batch, batch_idx: int) -> None:
        if self.recorder.diverged is not None:
            self.trainer.should_stop = True

    def validation_step(self, batch: Batch, index: int) -> None:
        logits, scored = self.model(batch.inputs), batch.targets != IGNORED
        losses, right = self.objective(logits, batch.targets), (logits.argmax(-1) == batch.targets) & scored
        self._held_out.append(torch.stack([losses.sum(), right.sum().float(), scored.sum().float()]))

    def on_validation_epoch_end(self) -> None:
        loss, right, count = torch.stack(self._held_out).cpu().double().sum(0)
        self._held_out.clear()
        self._validated = self.global_step
        self.recorder.record("val/loss", loss / count)
        self.recorder.record("val/accuracy", right / count)
        if self.solved_at is not None:
            self._record_solving(bool(right / count >= self.solved_at))

    @torch.no_grad()
    def on_train_end(self) -> None:
        """The last validation is that of the trained model, whatever the interval."""
        if self._validated != self.global_step:
            self.eval()
            for index, batch in enumerate(self.held_out(self.model.sizes.context)):
                self.validation_step(batch, index)
            self.on_validation_epoch_end()

    def held_out(self, length: int) -> list[Batch]:
        """The validation set in sequences of this length, where the model is."""
        return [Batch(*(part.to(self.device) for part in batch)) for batch in self.sequences(length)]

    def _record_solving(self, solved: bool) -> None:
        """Whether the task is solved now, and at which step it first was; no step where it never was."""
        self.recorder.record("solved", torch.tensor(float(solved)))
        if solved and not self._was_solved:
            self.recorder.record("steps_to_solve", torch.tensor(float(self.global_step)))
            self._was_solved = True

    def configure_optimizers(self) -> OptimizerLRSchedulerConfig:
        optimizer = self._optimizer(self.model)
        schedule = self._schedule(optimizer)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}

    def gradient_norms(self) -> Tensor:
        """‖g‖₂ of each parameter before clipping, in the order of `model.parameters()`; 0 where there is none."""
        if self._norms is None:
            gradients = [
                torch.zeros((), device=self.device) if p.grad is None else p.grad for p in self.model.parameters()
            ]
            self._norms = torch.stack(torch._foreach_norm(gradients))  # pyright: ignore[reportPrivateImportUsage]
        return self._norms

    def configure_gradient_clipping(
        self, optimizer: Optimizer, gradient_clip_val: float | None = None, gradient_clip_algorithm: str | None = None
    ) -> None:
        """Scale all gradients by min(1, clip / ‖g‖₂), with the norms that diagnostics have read."""
        if gradient_clip_val:
            torch.nn.utils.clip_grads_with_norm_(
                self.model.parameters(), gradient_clip_val, self.gradient_norms().norm()
            )


class Watch(L.Callback):
    """Lets diagnostics see the task at Lightning's hooks."""

    def __init__(self, diagnostics: list[Diagnostic]) -> None:
        self.diagnostics = diagnostics

    def on_fit_start(self, trainer: L.Trainer, pl_module: Any) -> None:
        for diagnostic in self.diagnostics:
            diagnostic.on_fit_start(pl_module)

    def on_before_optimizer_step(self, trainer: L.Trainer, pl_module: Any, optimizer: Optimizer) -> None:
        for diagnostic in self.diagnostics:
            diagnostic.on_before_optimizer_step(pl_module)

    @torch.no_grad()
    def on_train_end(self, trainer: L.Trainer, pl_module: Any) -> None:
        pl_module.eval()
        for diagnostic in self.diagnostics:
            diagnostic.on_train_end(pl_module)


class Drawn(IterableDataset[Batch]):
    """Training batches without end: those of a step from (seed, step), in as many pieces as it accumulates."""

    def __init__(self, data: Data, objective: Objective, size: int, pieces: int, seed: int) -> None:
        self.data, self.objective, self.size, self.pieces, self.seed = data, objective, size, pieces, seed

    def __iter__(self) -> Iterator[Batch]:
        for step in count():
            whole = self.data.train(self.size * self.pieces, self.seed, step)
            yield from posed(self.objective, whole, self.data.vocabulary, self.seed, step).pieces(self.size)


def posed(objective: Objective, batch: Batch, vocabulary: int, *words: object) -> Batch:
    """The batch as the objective poses it, with what that draws drawn from these words."""
    return objective.pose(batch, vocabulary, torch.Generator().manual_seed(key("pose", *words)))


def validation(data: Data, objective: Objective, size: int) -> list[Batch]:
    """The validation set in batches, larger than those of training, as they need no gradient."""
    return posed(objective, data.validation(), data.vocabulary, "validation").pieces(4 * size)
