"""Time the first steps of a trial."""

from __future__ import annotations

import json
import time
from pathlib import Path

from analysis.record.files import write_text
from analysis.record.layout import TIMING
from experiments.instruments.cost import peak_memory
from experiments.trial.checkpoint import Stopped
from experiments.trial.language_modeling import LanguageModeling


class StepTimer:
    """Ends a trial after some steps, and writes how many seconds the last of them took, and the most memory."""

    def __init__(self, folder: Path, steps: int) -> None:
        self.folder, self.steps = folder, steps
        self._last = time.monotonic()

    def __call__(self, task: LanguageModeling) -> None:
        """After a step. Raises Stopped after the last."""
        now = time.monotonic()
        if task.step >= min(self.steps, task.steps):
            taken = {"seconds": now - self._last, "memory": peak_memory(task.device)}
            write_text(self.folder / TIMING, json.dumps(taken))
            raise Stopped(f"these were {task.step} steps")
        self._last = now
