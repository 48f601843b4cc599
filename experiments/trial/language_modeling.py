"""The Lightning module: batches in, loss out, and nothing else. Parts and diagnostics live elsewhere."""

import math
from collections.abc import Callable
from contextlib import AbstractContextManager

import lightning as L
import torch
from lightning.pytorch.utilities.types import OptimizerLRSchedulerConfig
from torch import Tensor, distributed
from torch.optim import Optimizer
from torch.optim.lr_scheduler import LRScheduler

from components.initialise import key
from components.model import Decoder
from experiments.data import IGNORED, Batch
from experiments.data._vocabulary import Vocabulary
from experiments.objective import Objective
from experiments.trial.checkpoint import Checkpoint
from experiments.trial.rank import SINGLE, Rank
from experiments.trial.recorder import Recorder


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
        checkpoint: Checkpoint | None = None,
    ) -> None:
        super().__init__()
        self.model = model
        self.objective = objective
        self.seed, self.interval, self.solved_at, self.rank, self.checkpoint = (
            seed,
            interval,
            solved_at,
            rank,
            checkpoint,
        )
        self.vocabulary: Vocabulary
        self.recorder: Recorder
        self.batch: Batch
        self.sequences: Callable[[int], list[Batch]]
        self.scored_bytes: int | None = None
        self.after_step: Callable[[LanguageModeling], None] = lambda task: None
        self.on_start: Callable[[], None] = lambda: None
        self._optimizer, self._schedule = optimizer, schedule
        self._norms: Tensor | None = None
        self.first = checkpoint.step if checkpoint else 0
        self.validated = self.first if checkpoint else -1
        self.tokens = checkpoint.tokens if checkpoint else 0
        self.solved = checkpoint.solved if checkpoint else False
        self.best = checkpoint.best if checkpoint else (math.inf, 0)

    @property
    def step(self) -> int:
        """Optimizer steps since the trial began, whatever interrupted it."""
        return self.first + self.global_step

    @property
    def steps(self) -> int:
        """Optimizer steps that the trial is to take in all."""
        return self.first + self.trainer.max_steps

    @property
    def micro_batches(self) -> int:
        """Batches per optimizer step of each process."""
        return self.trainer.accumulate_grad_batches

    @property
    def world(self) -> int:
        """Processes that train this trial together."""
        return self.rank.world

    @property
    def clip(self) -> float | None:
        """The limit of the gradient norm; None without one."""
        return self.trainer.gradient_clip_val

    @property
    def precision(self) -> str:
        """Lightning's word for the precision, such as `bf16-mixed`."""
        return str(self.trainer.precision)

    def autocast(self) -> AbstractContextManager[None]:
        """The context of a forward pass in this precision."""
        return self.trainer.precision_plugin.forward_context()

    def on_train_start(self) -> None:
        self.on_start()
        if self.checkpoint is None:
            self.recorder.begin_step(0, 0)
            self.validate()

    def training_step(self, batch: Batch, index: int) -> Tensor:
        self.batch = batch
        self._reseed(self.first * self.micro_batches + index)
        logits = self.model(batch.inputs)
        self._norms = None
        self.tokens += batch.targets.numel() * self.rank.world
        self.recorder.begin_step(self.step + 1, self.tokens)
        loss = self.objective(logits, batch.targets).sum() / batch.scored
        self.recorder.record("train/loss", self._sum_over_ranks(loss.detach().clone()) / self.rank.world)
        return loss + self.objective.penalty(logits, batch.targets, batch.scored) if self.objective.z_loss else loss

    def _reseed(self, index: int) -> None:
        """What is dropped depends on (seed, step) alone. torch.manual_seed would cost a stack trace an accelerator."""
        number = key("dropout", self.seed, index, *([self.rank.number] if self.rank.number else []))
        torch.default_generator.manual_seed(number)
        if self.device.type == "cuda":
            torch.cuda.manual_seed(number)

    def agree(self, wishes: list[bool]) -> list[bool]:
        """Each wish, if any rank has it: what ranks do, they do at the same step."""
        flags = torch.tensor(wishes, dtype=torch.float32, device=self.device)
        return [flag > 0 for flag in self._sum_over_ranks(flags).tolist()] if self.rank.world > 1 else wishes

    def _sum_over_ranks(self, values: Tensor) -> Tensor:
        """The sum over all ranks."""
        if self.rank.world > 1:
            distributed.all_reduce(values)
        return values

    def on_before_optimizer_step(self, optimizer: Optimizer) -> None:
        self.recorder.require_finite(self.gradient_norms().norm())
        self.recorder.record("learning_rate", torch.tensor(optimizer.param_groups[0]["lr"], device=self.device))

    def on_train_batch_end(self, outputs: object, batch: Batch, batch_idx: int) -> None:
        if (batch_idx + 1) % self.micro_batches == 0:
            if self.step % self.interval == 0:
                self.validate()
            if self.recorder.is_alarmed:
                self.recorder.flush()
            self.after_step(self)
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
        with self.autocast():
            for batch in self.held_out(self.model.sizes.context)[self.rank.number :: self.rank.world]:
                sums += self._scores(batch)
        loss, right, scored = self._sum_over_ranks(sums)
        self.train()
        self.validated = self.step
        self.recorder.record("val/loss", loss / scored)
        self.best = min(self.best, (float(loss / scored), self.step)) if loss.isfinite() else self.best
        self.recorder.record("val/accuracy", right / scored)
        if self.scored_bytes is not None:
            self.recorder.record("val/bits_per_byte", loss / (math.log(2) * self.scored_bytes))
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
        if self.checkpoint is not None:
            optimizer.load_state_dict(self.checkpoint.optimizer)
            schedule.load_state_dict(self.checkpoint.schedule)
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
