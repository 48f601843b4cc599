"""Where a trial stands, so that it can go on from there; and the weights that it ends with."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from experiments.folder import CHECKPOINT
from experiments.state import STOP

if TYPE_CHECKING:
    from experiments.task import LanguageModeling

WEIGHTS = "weights.pt"
TIMING = "timing.json"  # what a trial leaves of which only some steps are timed


class Stopped(SystemExit):
    """A trial ends before its end because it was asked to."""


@dataclass(frozen=True)
class Checkpoint:
    """All that the next step depends on besides the configuration: torch's own types and plain ones."""

    step: int
    tokens: int
    solved: bool
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
        return cls(task.step, task.tokens, task.solved, *states, history, code)

    @classmethod
    def read(cls, folder: Path, code: str) -> Checkpoint | None:
        """The folder's checkpoint, if there is one that this code wrote."""
        path = folder / CHECKPOINT
        found = cls(**torch.load(path, weights_only=True, map_location="cpu")) if path.exists() else None
        return found if found is None or found.code == code else None


class Saver:
    """Writes a checkpoint every so many seconds, and once more when asked to stop."""

    def __init__(self, folder: Path, code: str, seconds: float, stopping: Callable[[], bool]) -> None:
        self.folder, self.code, self.seconds, self.stopping = folder, code, seconds, stopping
        self._last = time.monotonic()

    def __call__(self, task: LanguageModeling) -> None:
        """After a step. Raises Stopped once it was asked to stop."""
        due = time.monotonic() - self._last > self.seconds
        stop, due = task.agreed([self.stopping(), due and task.rank.number == 0])
        if task.step == task.steps or not (stop or due):
            return
        self._last, here = time.monotonic(), Checkpoint.of(task, self.code)
        if task.rank.number == 0 and task.recorder.diverged is None:
            save(self.folder / CHECKPOINT, vars(here))
        if stop:
            raise Stopped(f"stopped after step {task.step}, {STOP}")


class Timer:
    """Ends a trial after some steps, and writes how many seconds the last of them took."""

    def __init__(self, folder: Path, steps: int) -> None:
        self.folder, self.steps = folder, steps
        self._last = time.monotonic()

    def __call__(self, task: LanguageModeling) -> None:
        """After a step. Raises Stopped after the last."""
        now = time.monotonic()
        if task.step >= min(self.steps, task.steps):
            (self.folder / TIMING).write_text(json.dumps(now - self._last), encoding="utf-8")
            raise Stopped(f"these were {task.step} steps")
        self._last = now


def save(path: Path, state: Any) -> None:
    """The whole file or none of it."""
    part = path.with_name(f"{path.name}.part")
    try:
        torch.save(state, part)
        part.rename(path)
    finally:
        part.unlink(missing_ok=True)


def keep(folder: Path, model: torch.nn.Module, limit: float) -> None:
    """Keep the final weights while all that are kept beside this trial's stay within `limit` gigabytes."""
    size = sum(p.numel() * p.element_size() for p in model.parameters())
    kept = sum(path.stat().st_size for path in folder.parent.glob(f"*/{WEIGHTS}"))
    if kept + size <= limit * 1e9:
        save(folder / WEIGHTS, model.state_dict())
