"""A trial's process: its log, its signals, its exit status."""

import errno
import multiprocessing
import os
import signal
import sys
import threading
import traceback
from pathlib import Path

import torch

from analysis.record.layout import CONFIG, LOG
from analysis.record.plain import read_yaml
from analysis.record.summary import read_summary
from experiments.lifecycle.state import STOPPED_STATUS
from experiments.trial.checkpoint import Stopped
from experiments.trial.rank import SINGLE, Rank
from experiments.trial.train import train


def run_rank(folder: Path, rank: Rank, environment: dict[str, str], code: str, steps: int | None) -> None:
    """The trial's process: it outlives neither its parent nor its trial, and leaves interrupts to its parent."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ |= environment

    run_trial(folder, rank, code, steps)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def run_trial(folder: Path, rank: Rank = SINGLE, code: str | None = None, steps: int | None = None) -> None:
    """Run the trial of a folder, or only its first steps, as a process: all it prints goes to its log, errors too.

    Exits with ENOMEM or ENOSPC if memory or disk did not suffice, with `STOPPED_STATUS` if it was asked to stop, and
    with 1 if it failed in another way.
    """
    if read_summary(folder) is not None:
        return
    with (folder / (LOG if rank.number == 0 else f"rank{rank.number}.log")).open("w", buffering=1) as log:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
        try:
            refuse_changed_plan(folder, code)
            stop = StopSignal()
            stop.listen()
            train(folder, rank, stop, steps, stop.listen)
        except BaseException as error:
            traceback.print_exc()
            print(failure_reason(folder, error), file=sys.stderr)
            os._exit(exit_status(error))  # whatever the other ranks wait for


def refuse_changed_plan(folder: Path, code: str | None) -> None:
    """Raises RuntimeError if another command has planned this trial since, with code that is not loaded here."""
    planned = read_yaml(folder / CONFIG)["code"]
    if code is not None and planned != code:
        raise RuntimeError("its code has changed since this command began, and another command has planned it anew")


class StopSignal:
    """Whether this process was asked to stop: by SIGTERM, or SIGUSR1, which Slurm sends before time is up."""

    def __init__(self) -> None:
        self.requested = False

    def listen(self) -> None:
        """From now on. Lightning listens too, and would end the trial before it could write down where it stands."""
        for number in (signal.SIGTERM, signal.SIGUSR1):
            signal.signal(number, self._note)

    def _note(self, number: int, frame: object) -> None:
        self.requested = True

    def __call__(self) -> bool:
        return self.requested


def exit_status(error: BaseException) -> int:
    """The exit status that says what kind of failure this was."""
    if isinstance(error, Stopped):
        return STOPPED_STATUS
    if isinstance(error, MemoryError | torch.OutOfMemoryError) or "can't allocate memory" in str(error):
        return errno.ENOMEM
    return errno.ENOSPC if isinstance(error, OSError) and error.errno == errno.ENOSPC else 1


def failure_reason(folder: Path, error: BaseException) -> str:
    """One line: why the trial ended."""
    said = {
        errno.ENOMEM: "out of memory",
        errno.ENOSPC: f"the disk of {folder} is full: free some of it, or name another with runtime.results=FOLDER",
        STOPPED_STATUS: str(error),
    }
    return said.get(exit_status(error), f"{type(error).__name__}: {error}")
