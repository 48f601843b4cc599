"""How an attempt at a trial ended: `outcome.json`, written by the process that failed, or for it by its parent."""

import json
import os
import uuid
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from analysis.record.files import DamagedFile, read_json, reading
from analysis.record.layout import ATTEMPTS, OUTCOME

OUTCOMES = ("finished", "diverged", "stopped", "failed", "killed")


@dataclass(frozen=True)
class Outcome:
    """The end of an attempt.

    `step` is the last step on record, None where there is none. `rank`, `exception` (the name of its type) and
    `traceback` (the log in the trial's folder that shows it) are those of the process that failed first. `note` is
    what a reader should know of an attempt that did not fail.
    """

    outcome: str
    step: int | None = None
    reason: str = ""
    rank: int | None = None
    exception: str = ""
    traceback: str = ""
    note: str = ""


def write_outcome(folder: Path, outcome: Outcome) -> bool:
    """Record the end of an attempt unless one is recorded already, since the first cause counts; whether it was."""
    path = folder / OUTCOME
    part = path.with_name(f"{path.name}.{uuid.uuid4().hex}.part")
    try:
        with part.open("w", encoding="utf-8") as file:
            json.dump(asdict(outcome), file, indent=2, ensure_ascii=False)
            file.flush()
            os.fsync(file.fileno())
        return _rename_if_free(part, path)
    finally:
        part.unlink(missing_ok=True)


def _rename_if_free(part: Path, path: Path) -> bool:
    """Rename a file unless the name is taken, in one step where the file system has hard links; whether it was."""
    try:
        os.link(part, path)
    except FileExistsError:
        return False
    except OSError:
        if path.exists():
            return False
        part.replace(path)
    return True


def read_outcome(folder: Path) -> Outcome | None:
    """How the attempt in this folder ended; None where that is not recorded. Raises DamagedFile."""
    path = folder / OUTCOME
    try:
        content = read_json(path, *(field.name for field in fields(Outcome)))
    except FileNotFoundError:
        return None
    with reading(path):
        outcome = Outcome(**content)
    if outcome.outcome not in OUTCOMES:
        raise DamagedFile(path, f"its outcome is {outcome.outcome!r}, not one of {', '.join(OUTCOMES)}")
    return outcome


def latest_outcome(folder: Path) -> Outcome | None:
    """How the latest attempt at a trial ended, also where it was set aside; None where no end is recorded.

    Raises DamagedFile.
    """
    aside = sorted((folder / ATTEMPTS).glob("[0-9]*"), key=lambda path: int(path.name), reverse=True)
    return next((outcome for home in (folder, *aside) if (outcome := read_outcome(home)) is not None), None)
