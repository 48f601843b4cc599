"""How a trial's process ends before its last step: because it was asked to, or for want of something."""

import errno
import signal
from pathlib import Path

import torch

from experiments.checkpoint import Stopped
from experiments.state import STOPPED


class Asked:
    """Whether this process was asked to stop: by SIGTERM, or SIGUSR1, which Slurm sends before time is up."""

    def __init__(self) -> None:
        self.asked = False

    def listen(self) -> None:
        """From now on. Lightning listens too, and would end the trial before it could write down where it stands."""
        for number in (signal.SIGTERM, signal.SIGUSR1):
            signal.signal(number, self._note)

    def _note(self, number: int, frame: object) -> None:
        self.asked = True

    def __call__(self) -> bool:
        return self.asked


def status(error: BaseException) -> int:
    """The exit status that says what kind of failure this was."""
    if isinstance(error, Stopped):
        return STOPPED
    if isinstance(error, MemoryError | torch.OutOfMemoryError) or "can't allocate memory" in str(error):
        return errno.ENOMEM
    return errno.ENOSPC if isinstance(error, OSError) and error.errno == errno.ENOSPC else 1


def reason(folder: Path, error: BaseException) -> str:
    """One line: why the trial ended."""
    said = {
        errno.ENOMEM: "out of memory",
        errno.ENOSPC: f"the disk of {folder} is full: free some of it, or name another with runtime.results=FOLDER",
        STOPPED: str(error),
    }
    return said.get(status(error), f"{type(error).__name__}: {error}")
