"""The Lightning module: batches in, loss out, and nothing else. Parts and diagnostics live elsewhere."""

import math
from collections.abc import Callable

import lightning as L
import torch
from lightning.pytorch.utilities.types import OptimizerLRSchedulerConfig
from torch import Tensor, distributed
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler

from components.initialise import key
from components.model import Decoder
from experiments.alphabet import Alphabet
from experiments.checkpoint import Checkpoint
from experiments.data import IGNORED, Batch
from experiments.objective import Objective
from experiments.rank import SINGLE, Rank
from experiments.recorder import Recorder


class LanguageModeling(L.LightningModule):
    """Minimise the objective's mean over scored tokens; validation is their mean over the whole set.

    The model is validated before the first step, every `interval` steps and after the last, whatever process does it.
    """

    def __init__(
        self,
        model: Decoder,
        objective: Objective,
        optimizer: Callable[[Decoder], Optimizer],
        schedule: Callable[[Optimizer], LRScheduler],
        seed: int,
        interval: int = 1,
        solved_at: float | None = None,
        rank: Rank = SINGLE,
        begun: Checkpoint | None = None,
    ) -> None:
        super().__init__()
        self.model = model
        self.objective = objective
        self.seed, self.interval, self.solved_at, self.rank, self.begun = seed, interval, solved_at, rank, begun
        self.alphabet: Alphabet
        self.recorder: Recorder
        self.batch: Batch
        self.sequences: Callable[[int], list[Batch]]
        self.save: Callable[[LanguageModeling], None] = lambda task: None
        self.listen: Callable[[], None] = lambda: None
        self._optimizer, self._schedule = optimizer, schedule
        self._norms: Tensor | None = None
        self.first = begun.step if begun else 0
        self.validated = self.first if begun else -1
        self.tokens = begun.tokens if begun else 0
        self.solved = begun.solved if begun else False
        self.best = begun.best if begun else (math.inf, 0)

    @property
    def step(self) -> int:
        """Optimizer steps since the trial began, whatever interrupted it."""
        return self.first + self.global_step

    @property
    def steps(self) -> int:
        """Optimizer steps that the trial is to take in all."""
        return self.first + self.trainer.max_steps

    def on_train_start(self) -> None:
        self.listen()
        if self.begun is None:
            self.recorder.at(0, 0)
            self.validate()

    def training_step(self, batch: Batch, index: int) -> Tensor:
        self.batch = batch
        self._reseed(self.first * self.trainer.accumulate_grad_batches + index)
        logits = self.model(batch.inputs)
        self._norms = None
        self.tokens += batch.targets.numel() * self.rank.world
        self.recorder.at(self.step + 1, self.tokens)
        loss = self.objective(logits, batch.targets).sum() / batch.scored
        self.recorder.record("train/loss", self._shared(loss.detach().clone()) / self.rank.world)
        return loss + self.objective.penalty(logits, batch.targets, batch.scored) if self.objective.z_loss else loss

    def _reseed(self, index: int) -> None:
        """What is dropped depends on (seed, step) alone. torch.manual_seed would cost a stack trace an accelerator."""
        number = key("dropout", self.seed, index, *([self.rank.number] if self.rank.number else []))
        torch.default_generator.manual_seed(number)
        if self.device.type == "cuda":
            torch.cuda.manual_seed(number)

    def agreed(self, wishes: list[bool]) -> list[bool]:
        """Each wish, if any rank has it: what ranks do, they do at the same step."""
        flags = torch.tensor(wishes, dtype=torch.float32, device=self.device)
        return [flag > 0 for flag in self._shared(flags).tolist()] if self.rank.world > 1 else wishes

    def _shared(self, values: Tensor) -> Tensor:
        """The sum over all ranks."""
        if self.rank.world > 1:
            distributed.all_reduce(values)
        return values

    def on_before_optimizer_step(self, optimizer: Optimizer) -> None:
        self.recorder.record("learning_rate", torch.tensor(optimizer.param_groups[0]["lr"], device=self.device))

    def on_train_batch_end(self, outputs: object, batch: Batch, batch_idx: int) -> None:
        if (batch_idx + 1) % self.trainer.accumulate_grad_batches == 0:
            if self.step % self.interval == 0:
                self.validate()
            self.save(self)
        if self.recorder.diverged is not None:
            self.trainer.should_stop = True

    def on_train_end(self) -> None:
        """The last validation is that of the trained model, whatever the interval."""
        if self.validated != self.step and self.recorder.diverged is None:
            self.validate()

    @torch.no_grad()
    def validate(self) -> None:
        """Record loss and accuracy over the whole validation set; ranks share its batches."""
        self.eval()
        exact = torch.float32 if self.device.type == "mps" else torch.float64
        sums = torch.zeros(3, dtype=exact, device=self.device)
        with self.trainer.precision_plugin.forward_context():
            for batch in self.held_out(self.model.sizes.context)[self.rank.number :: self.rank.world]:
                sums += self._scores(batch)
        loss, right, scored = self._shared(sums)
        self.train()
        self.validated = self.step
        self.recorder.record("val/loss", loss / scored)
        self.best = min(self.best, (float(loss / scored), self.step)) if loss.isfinite() else self.best
        self.recorder.record("val/accuracy", right / scored)
        if self.solved_at is not None:
            self._record_solving(bool(right / scored >= self.solved_at))

    def _scores(self, batch: Batch) -> Tensor:
        """Sum of losses, right answers, scored tokens."""
        logits, scored = self.model(batch.inputs), batch.targets != IGNORED
        losses, right = self.objective(logits, batch.targets), (logits.argmax(-1) == batch.targets) & scored
        return torch.stack([losses.sum(), right.sum(), scored.sum()])

    def held_out(self, length: int) -> list[Batch]:
        """The validation set in sequences of this length, where the model is."""
        return [Batch(*(part.to(self.device) for part in batch)) for batch in self.sequences(length)]

    def _record_solving(self, solved: bool) -> None:
        """Whether the task is solved now, and at which step it first was; no step where it never was."""
        self.recorder.record("solved", torch.tensor(float(solved), device=self.device))
        if solved and not self.solved:
            self.recorder.record("steps_to_solve", torch.tensor(float(self.step), device=self.device))
            self.solved = True

    def configure_optimizers(self) -> OptimizerLRSchedulerConfig:
        optimizer = self._optimizer(self.model)
        schedule = self._schedule(optimizer)
        if self.begun is not None:
            optimizer.load_state_dict(self.begun.optimizer)
            schedule.load_state_dict(self.begun.schedule)
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
