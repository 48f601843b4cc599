"""Who trains a trial: a lease that ends with its holder, so that none is trained twice and nobody waits for the dead.

A lease is a file `lease.N` in the trial's folder, the one with the highest N in force. It is made by exclusive
creation, so only one of many gets it; a lease whose holder is gone is followed by the next number, never removed
by a stranger. A holder is gone when its process is, or, on another host, when it has not touched the file for long.
"""

import json
import os
import platform
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

import psutil

BEAT = 5.0  # seconds between signs of life
PATIENCE = 60.0  # seconds without one after which a holder on another host counts as gone


@dataclass(frozen=True)
class Holder:
    """A process, wherever it runs; `began` tells it from a later one of the same number."""

    host: str
    process: int
    began: float

    @classmethod
    def here(cls) -> "Holder":
        """This process."""
        return cls(platform.node(), os.getpid(), psutil.Process().create_time())

    def runs(self) -> bool:
        """Whether the process is alive; it must be of this host."""
        try:
            found = psutil.Process(self.process)
            return found.status() != psutil.STATUS_ZOMBIE and abs(found.create_time() - self.began) < 1
        except psutil.NoSuchProcess:
            return False


@dataclass(frozen=True)
class Lease:
    """A right to train the trial of a folder, until it is released or its holder is gone."""

    folder: Path
    number: int

    @property
    def path(self) -> Path:
        """The file that is the lease."""
        return self.folder / f"lease.{self.number}"

    def beat(self) -> None:
        """A sign of life."""
        os.utime(self.path)

    def lost(self) -> bool:
        """Whether somebody took this holder for gone and went on without it."""
        return _latest(self.folder) != self.number

    def release(self) -> None:
        """Give the trial back; the leases that this one followed go with it."""
        for number in range(self.number + 1):
            (self.folder / f"lease.{number}").unlink(missing_ok=True)


def take(folder: Path) -> Lease | None:
    """A lease on the folder, or None while another holder has it."""
    latest = _latest(folder)
    if latest is not None and holder(folder) is not None:
        return None
    lease = Lease(folder, 0 if latest is None else latest + 1)
    try:
        with lease.path.open("x", encoding="utf-8") as file:
            json.dump(asdict(Holder.here()), file)
    except FileExistsError:  # somebody was quicker
        return None
    return lease


def clear(folder: Path) -> None:
    """Remove what a holder that is gone left on a trial that it finished."""
    if holder(folder) is None and (latest := _latest(folder)) is not None:
        Lease(folder, latest).release()


def holder(folder: Path) -> Holder | None:
    """Who trains the trial of this folder now, if anybody does."""
    latest = _latest(folder)
    if latest is None:
        return None
    path = Lease(folder, latest).path
    try:
        found = Holder(**json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:  # released just now
        return None
    except ValueError:  # being written, unless its writer died over it
        return Holder("", 0, 0.0) if _age(path) < PATIENCE else None
    alive = found.runs() if found.host == platform.node() else _age(path) < PATIENCE
    return found if alive else None


def _latest(folder: Path) -> int | None:
    return max((int(path.suffix[1:]) for path in folder.glob("lease.*")), default=None)


def _age(path: Path) -> float:
    """Seconds since a file was touched, by the clock of the disk that it lies on."""
    with tempfile.NamedTemporaryFile(dir=path.parent) as now:
        try:
            return os.fstat(now.fileno()).st_mtime - path.stat().st_mtime
        except FileNotFoundError:
            return 0.0
