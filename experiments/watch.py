"""How diagnostics see a trial: Lightning's hooks, and one look at the model for all that want one at this step."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import lightning as L
import torch
from torch.optim import Optimizer

from experiments.data import Batch
from experiments.diagnostic import Diagnostic, Look
from experiments.observe import observed

SEQUENCES = 8  # of the validation set that a look is at, the same for all arms and seeds


class Watch(L.Callback):
    """Calls diagnostics at their hooks, and looks at the model for those that want to see it."""

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        self.diagnostics = diagnostics
        self.task: Any = None

    def on_fit_start(self, trainer: L.Trainer, pl_module: Any) -> None:
        self.task = pl_module
        for diagnostic in self.diagnostics:
            diagnostic.on_fit_start(pl_module)

    def on_train_start(self, trainer: L.Trainer, pl_module: Any) -> None:
        if pl_module.begun is None:
            pl_module.recorder.at(0, 0)
            self.look()

    def on_before_optimizer_step(self, trainer: L.Trainer, pl_module: Any, optimizer: Optimizer) -> None:
        for diagnostic in self.diagnostics:
            diagnostic.on_before_optimizer_step(pl_module)

    def on_train_batch_end(
        self, trainer: L.Trainer, pl_module: Any, outputs: Any, batch: Batch, batch_idx: int
    ) -> None:
        if (batch_idx + 1) % trainer.accumulate_grad_batches == 0:
            for diagnostic in self.diagnostics:
                diagnostic.on_train_batch_end(pl_module)
            self.look()

    @torch.no_grad()
    def on_train_end(self, trainer: L.Trainer, pl_module: Any) -> None:
        pl_module.eval()
        for diagnostic in [] if pl_module.recorder.diverged is not None else self.diagnostics:
            diagnostic.on_train_end(pl_module)

    def look(self) -> None:
        """Show the model as it is to those diagnostics whose turn it is."""
        step, end = self.task.step, self.task.step in (0, self.task.steps)
        looks = [each for each in self.diagnostics if isinstance(each, Look)]
        due = [each for each in looks if end or (each.every and step % each.every == 0)]
        if due:
            self.task.eval()
            with self.task.trainer.precision_plugin.forward_context(), torch.enable_grad():
                seen = observed(self.task.model, self._batch.inputs)
                seen.losses = self.task.objective(seen.logits, self._batch.targets)
            with torch.no_grad():
                for diagnostic in due if seen.logits.isfinite().all() else []:  # a diverged model shows nothing
                    diagnostic.on_look(self.task, seen)
            self.task.train()

    @cached_property
    def _batch(self) -> Batch:
        first = self.task.held_out(self.task.model.sizes.context)[0]
        return Batch.of(first.inputs[:SEQUENCES], first.targets[:SEQUENCES])
