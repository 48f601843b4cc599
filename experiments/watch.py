"""How diagnostics see a trial: Lightning's hooks, and one look at the model for all that want one at this step."""

from collections.abc import Sequence
from typing import Any

import lightning as L
import torch
from torch.optim import Optimizer

from experiments.data import Batch
from experiments.diagnostic import Diagnostic, Look
from experiments.observe import Seen, observed
from experiments.task import LanguageModeling

SEQUENCES = 8  # of the validation set that a look is at, the same for all arms and seeds


class Watch(L.Callback):
    """Calls diagnostics at their hooks, and looks at the model for those that want to see it."""

    def __init__(self, task: LanguageModeling, diagnostics: Sequence[Diagnostic]) -> None:
        self.task, self.diagnostics = task, diagnostics
        self.looks = [each for each in diagnostics if isinstance(each, Look)]
        self._batch: Batch | None = None

    def on_fit_start(self, trainer: L.Trainer, pl_module: Any) -> None:
        for diagnostic in self.diagnostics:
            diagnostic.on_fit_start(self.task)

    def on_train_start(self, trainer: L.Trainer, pl_module: Any) -> None:
        if self.task.begun is None:
            self.task.recorder.at(0, 0)
            self.look()

    def on_before_optimizer_step(self, trainer: L.Trainer, pl_module: Any, optimizer: Optimizer) -> None:
        for diagnostic in self.diagnostics:
            diagnostic.on_before_optimizer_step(self.task)

    def on_train_batch_end(
        self, trainer: L.Trainer, pl_module: Any, outputs: Any, batch: Batch, batch_idx: int
    ) -> None:
        if (batch_idx + 1) % trainer.accumulate_grad_batches == 0:
            for diagnostic in self.diagnostics:
                diagnostic.on_train_batch_end(self.task)
            self.look()

    @torch.no_grad()
    def on_train_end(self, trainer: L.Trainer, pl_module: Any) -> None:
        self.task.eval()
        for diagnostic in [] if self.task.recorder.diverged is not None else self.diagnostics:
            diagnostic.on_train_end(self.task)
            diagnostic.on_trained(self.task)

    def look(self) -> None:
        """Show the model as it is to those diagnostics whose turn it is."""
        step, end = self.task.step, self.task.step in (0, self.task.steps)
        due = [each for each in self.looks if end or (each.every and step % each.every == 0)]
        if due:
            self.task.eval()
            with self.task.trainer.precision_plugin.forward_context():
                self._show(due, self.seen())
            self.task.train()

    @torch.no_grad()
    def ask(self) -> None:
        """All that can be measured of a model that is trained already."""
        self._show(self.looks, self.seen())
        for diagnostic in self.diagnostics:
            diagnostic.on_trained(self.task)

    @torch.enable_grad()
    def seen(self) -> Seen:
        """What goes through the model on the first sequences of the validation set."""
        if self._batch is None:
            first = self.task.held_out(self.task.model.sizes.context)[0]
            self._batch = Batch.of(first.inputs[:SEQUENCES], first.targets[:SEQUENCES])
        with torch.backends.cudnn.flags(enabled=False):  # whose recurrent cells have no gradient outside of training
            found = observed(self.task.model, self._batch.inputs)
        found.losses = self.task.objective(found.logits, self._batch.targets)
        return found

    @torch.no_grad()
    def _show(self, looks: Sequence[Look], seen: Seen) -> None:
        for diagnostic in looks if seen.logits.isfinite().all() else []:  # a diverged model shows nothing
            diagnostic.on_look(self.task, seen)
