"""Where a trial stands, so that it can go on from there; and the weights that it ends with."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from experiments.folder import CHECKPOINT, whole
from experiments.memory import GB, peak
from experiments.state import STOP

if TYPE_CHECKING:
    from experiments.task import LanguageModeling

WEIGHTS, BEST = "weights.pt", "best.pt"  # the last weights, and those of the lowest validation loss
TIMING = "timing.json"  # what a trial leaves of which only some steps are timed


class Stopped(SystemExit):
    """A trial ends before its end because it was asked to."""


@dataclass(frozen=True)
class Checkpoint:
    """All that the next step depends on besides the configuration: torch's own types and plain ones."""

    step: int
    tokens: int
    solved: bool
    best: tuple[float, int]
    model: dict[str, Any]
    optimizer: dict[str, Any]
    schedule: dict[str, Any]
    history: torch.Tensor
    code: str

    @classmethod
    def of(cls, task: LanguageModeling, code: str) -> Checkpoint:
        """Where this task stands between two steps."""
        optimizer: Any = task.optimizers(use_pl_optimizer=False)
        schedule: Any = task.lr_schedulers()
        states = (task.model.state_dict(), optimizer.state_dict(), schedule.state_dict())
        history = torch.frombuffer(bytearray(task.recorder.so_far()), dtype=torch.uint8)
        return cls(task.step, task.tokens, task.solved, task.best, *states, history, code)

    @classmethod
    def read(cls, folder: Path, code: str) -> Checkpoint | None:
        """The folder's checkpoint, if there is one that this code wrote."""
        path = folder / CHECKPOINT
        found = cls(**torch.load(path, weights_only=True, map_location="cpu")) if path.exists() else None
        return found if found is None or found.code == code else None


class Saver:
    """Writes a checkpoint every so many seconds, and once more when asked to stop.

    From the first one on, the weights are kept too whenever their validation loss is the lowest so far.
    """

    def __init__(self, folder: Path, code: str, seconds: float, keep_gb: float, stopping: Callable[[], bool]) -> None:
        self.folder, self.code, self.seconds, self.keep_gb, self.stopping = folder, code, seconds, keep_gb, stopping
        self._began = self._last = time.monotonic()

    def __call__(self, task: LanguageModeling) -> None:
        """After a step. Raises Stopped once it was asked to stop."""
        due = time.monotonic() - self._last > self.seconds
        stop, due = task.agreed([self.stopping(), due and task.rank.number == 0])
        long = time.monotonic() - self._began > self.seconds
        if long and task.best[1] == task.step < task.steps and task.rank.number == 0:
            keep(self.folder, task.model, self.keep_gb, BEST)
        if task.step == task.steps or not (stop or due):
            return
        self._last, here = time.monotonic(), Checkpoint.of(task, self.code)
        if task.rank.number == 0 and task.recorder.diverged is None:
            save(self.folder / CHECKPOINT, vars(here))
        if stop:
            raise Stopped(f"stopped after step {task.step}, {STOP}")


class Timer:
    """Ends a trial after some steps, and writes how many seconds the last of them took, and the most memory."""

    def __init__(self, folder: Path, steps: int) -> None:
        self.folder, self.steps = folder, steps
        self._last = time.monotonic()

    def __call__(self, task: LanguageModeling) -> None:
        """After a step. Raises Stopped after the last."""
        now = time.monotonic()
        if task.step >= min(self.steps, task.steps):
            taken = {"seconds": now - self._last, "memory": peak(task.device)}
            (self.folder / TIMING).write_text(json.dumps(taken), encoding="utf-8")
            raise Stopped(f"these were {task.step} steps")
        self._last = now


def save(path: Path, state: Any) -> None:
    """The whole file or none of it."""
    with whole(path) as part:
        torch.save(state, part)


def keep(folder: Path, model: torch.nn.Module, limit: float, name: str = WEIGHTS) -> None:
    """Keep the weights while all that are kept in the results folder stay within `limit` gigabytes."""
    size = sum(p.numel() * p.element_size() for p in model.parameters())
    others = {path for kept in (WEIGHTS, BEST) for path in folder.parent.glob(f"*/{kept}")} - {folder / name}
    if sum(path.stat().st_size for path in others) + size <= limit * GB:
        save(folder / name, model.state_dict())
