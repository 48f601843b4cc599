"""Write checkpoints while a trial trains, and end it when it is asked to stop."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from analysis.record.layout import BEST, CHECKPOINT
from experiments.lifecycle.lease import WriteRight
from experiments.trial.checkpoint import Checkpoint, Stopped, keep_weights, save_atomically
from experiments.trial.language_modeling import LanguageModeling


class Checkpointer:
    """Writes a checkpoint every so many seconds, and once more when asked to stop.

    From the first one on, the weights are kept too whenever their validation loss is the lowest so far.
    """

    def __init__(
        self, folder: Path, code: str, seconds: float, keep_gb: float, stopping: Callable[[], bool],
        right: WriteRight,
    ) -> None:  # fmt: skip
        self.folder, self.code, self.seconds, self.keep_gb, self.stopping = folder, code, seconds, keep_gb, stopping
        self.right = right
        self._began = self._last = time.monotonic()

    def __call__(self, task: LanguageModeling) -> None:
        """After a step. Raises Stopped once it was asked to stop, LeaseLost where it may not write a checkpoint."""
        due = time.monotonic() - self._last > self.seconds
        stop, due = task.agree([self.stopping(), due and task.rank.number == 0])
        long = time.monotonic() - self._began > self.seconds
        if long and task.best[1] == task.step < task.steps and task.rank.number == 0:
            keep_weights(self.folder, task.model, self.keep_gb, BEST, self.right.replacing)
        if task.step == task.steps or not (stop or due):
            return
        self.right.refuse_if_lost()
        self._last, here = time.monotonic(), current_checkpoint(task, self.code)
        if task.rank.number == 0 and task.recorder.diverged is None:
            save_atomically(self.folder / CHECKPOINT, vars(here), self.right.replacing)
        if stop:
            raise Stopped(f"stopped after step {task.step}, to be continued from there")


def current_checkpoint(task: LanguageModeling, code: str) -> Checkpoint:
    """The state of this task between two steps."""
    optimizer: Any = task.optimizers(use_pl_optimizer=False)
    schedule: Any = task.lr_schedulers()
    states = (task.model.state_dict(), optimizer.state_dict(), schedule.state_dict())
    history = torch.frombuffer(bytearray(task.recorder.stream_bytes()), dtype=torch.uint8)
    return Checkpoint(task.step, task.tokens, task.solved, task.best, *states, history, code)
