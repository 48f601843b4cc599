"""Earlier attempts at a trial: what they left is kept under `attempts/N/`."""

from pathlib import Path

from analysis.record.files import DamagedFile
from analysis.record.history import last_recorded_step
from analysis.record.layout import ATTEMPTS, HISTORY, LOG, OUTCOME, STREAMS, SUMMARY
from analysis.record.outcome import Outcome, write_outcome
from experiments.lifecycle.lease import Lease

# The summary comes first, so that no trial seems complete that is not.
LEFT_BY_AN_ATTEMPT = (SUMMARY, HISTORY, STREAMS, LOG, "rank*.log", OUTCOME)
UNRECORDED_END = "it ended without a record: its process was killed together with its command, or the machine went down"


def set_attempt_aside(lease: Lease) -> None:
    """Move what the attempt before this lease left into `attempts/N/`; an end that nobody recorded is recorded there.

    Raises LeaseLost, before anything is moved, if the lease is not in force any more.
    """
    folder = lease.folder
    lease.refuse_if_lost()
    left = [path for pattern in LEFT_BY_AN_ATTEMPT for path in sorted(folder.glob(pattern))]
    if not left:
        return
    unrecorded = Outcome("killed", recorded_step(folder), UNRECORDED_END)
    home = next_attempt_folder(folder)
    for path in left:
        path.rename(home / path.name)
    if not (home / SUMMARY).exists():
        write_outcome(home, unrecorded)


def set_file_aside(path: Path) -> Path:
    """Move a damaged file out of the way, into a folder of its own under `attempts/`; its new path."""
    return path.rename(next_attempt_folder(path.parent) / path.name)


def next_attempt_folder(folder: Path) -> Path:
    """Make the folder `attempts/N` with the next number."""
    numbers = [int(path.name) for path in (folder / ATTEMPTS).glob("[0-9]*") if path.name.isdecimal()]
    home = folder / ATTEMPTS / str(max(numbers, default=-1) + 1)
    home.mkdir(parents=True)
    return home


def recorded_step(folder: Path) -> int | None:
    """The last step that an attempt recorded; None before the first, and where its record is damaged."""
    try:
        return last_recorded_step(folder)
    except DamagedFile:
        return None
