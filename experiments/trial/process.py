"""A trial's process: its log, its signals, the record of its end."""

import errno
import logging
import multiprocessing
import os
import signal
import threading
import traceback
import warnings
from contextlib import nullcontext
from pathlib import Path

import torch

from analysis.record.config_file import read_config
from analysis.record.files import disk_full_text, is_disk_full
from analysis.record.layout import LOG
from analysis.record.outcome import Outcome, write_outcome
from analysis.record.summary import read_summary
from experiments.lifecycle.attempts import recorded_step
from experiments.lifecycle.lease import Lease, LeaseLost, SoleWriter, refreshed
from experiments.lifecycle.state import STOPPED_STATUS
from experiments.trial.checkpoint import Stopped
from experiments.trial.rank import SINGLE, Rank


def run_rank(lease: Lease, rank: Rank, environment: dict[str, str], code: str, steps: int | None) -> None:
    """The trial's process: it outlives neither its parent nor its trial, and leaves interrupts to its parent."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ |= environment
    keep_advice_out_of_the_log()
    run_trial(lease.folder, rank, code, steps, lease)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def keep_advice_out_of_the_log() -> None:
    """Lightning's tips, and warnings that only concern who writes libraries, tell a trial's reader nothing."""
    for category in (DeprecationWarning, PendingDeprecationWarning, FutureWarning):
        warnings.filterwarnings("ignore", category=category)
    for name in ("lightning.pytorch", "lightning.fabric"):
        logging.getLogger(name).setLevel(logging.WARNING)


def run_trial(
    folder: Path,
    rank: Rank = SINGLE,
    code: str | None = None,
    steps: int | None = None,
    lease: Lease | None = None,
) -> None:
    """Run the trial of a folder, or only its first steps, as a process: all it prints goes to its log, errors too.

    Its end is recorded in `outcome.json`. Exits with ENOMEM or ENOSPC if memory or disk did not suffice, with
    `STOPPED_STATUS` if it was asked to stop, and with 1 if it failed in another way.
    """
    if read_summary(folder) is not None:
        return
    from experiments.trial.train import train  # imports Lightning, which the parent of a sweep does without

    if lease is not None:
        lease.refuse_if_lost()
    with (folder / log_name(rank)).open("a", buffering=1) as log:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
        try:
            refuse_changed_plan(folder, code)
            stop = StopSignal()
            stop.listen()
            with refreshed(lease) if lease is not None and rank.number == 0 else nullcontext():
                outcome = train(folder, rank, stop, steps, stop.listen, lease or SoleWriter())
            if rank.number == 0:
                write_outcome(folder, outcome)
        except BaseException as error:
            traceback.print_exc()
            record_failure(folder, rank, error, lease)
            os._exit(exit_status(error, folder))  # whatever the other ranks wait for


def log_name(rank: Rank) -> str:
    """The file that a process of a trial prints to."""
    return LOG if rank.number == 0 else f"rank{rank.number}.log"


def record_failure(folder: Path, rank: Rank, error: BaseException, lease: Lease | None) -> None:
    """Record how the trial ended, unless another rank failed before, or the folder is another command's by now."""
    if isinstance(error, LeaseLost) or (lease is not None and lease.was_taken_over()):
        return
    stopped = isinstance(error, Stopped)
    outcome = Outcome(
        "stopped" if stopped else "failed",
        recorded_step(folder),
        failure_reason(folder, error),
        rank.number,
        type(error).__name__,
        "" if stopped else log_name(rank),
    )
    try:
        write_outcome(folder, outcome)
    except OSError:  # a full disk, or no folder any more: the exit status still tells the parent
        traceback.print_exc()


def refuse_changed_plan(folder: Path, code: str | None) -> None:
    """Raises RuntimeError if another command has planned this trial since, with code that is not loaded here."""
    if code is not None and read_config(folder)["code"] != code:
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


def exit_status(error: BaseException, folder: Path) -> int:
    """The exit status that says what kind of failure this was."""
    if isinstance(error, Stopped):
        return STOPPED_STATUS
    if isinstance(error, MemoryError | torch.OutOfMemoryError) or "can't allocate memory" in str(error):
        return errno.ENOMEM
    return errno.ENOSPC if isinstance(error, OSError | RuntimeError) and is_disk_full(error, folder) else 1


def failure_reason(folder: Path, error: BaseException) -> str:
    """One line: why the trial ended."""
    if isinstance(error, Stopped):
        return str(error)
    reasons = {errno.ENOMEM: "out of memory", errno.ENOSPC: disk_full_text(folder)}
    return reasons.get(exit_status(error, folder), f"{type(error).__name__}: {error}")
