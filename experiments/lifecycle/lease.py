"""Who may train a trial and write its folder: a lease, so that none is trained twice and nobody waits for the dead.

A lease is a file `lease.N` in the trial's folder, the one with the highest N in force. It is made by exclusive
creation, so only one of many gets it; a lease whose holder is gone is followed by the next number, and only the holder
of the last removes them.

A lease names the launching process as its holder and belongs to that process and to the trial's processes, which end
with it. Both refresh it: the launcher in its loop, the training process of rank 0 in a thread, so that it stays in
force while either lives, and a launcher that is merely stopped does not lose a trial that goes on. A holder is gone
when its process is; where that process cannot be seen from here (another host, another boot, another process
namespace, as in two containers of one host name), it is gone when nobody has refreshed the lease for
`LEASE_TIMEOUT_SECONDS`.

A process that was stopped for longer may wake up as the former holder. It must not write any more: `Lease.replacing`
gives a file its name only while the lease is in force, and each attempt writes its stream under its lease's `attempt`.
"""

import json
import os
import platform
import tempfile
import threading
import uuid
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Protocol

import psutil

from analysis.record.files import replacing

HEARTBEAT_SECONDS = 5.0  # seconds between two refreshes of a lease
LEASE_TIMEOUT_SECONDS = 60.0  # seconds without a refresh after which a holder that cannot be seen counts as gone


class LeaseLost(RuntimeError):
    """Another command has taken the trial over, so that this process must not write any more."""


class WriteRight(Protocol):
    """The right of an attempt to write its trial's folder; `attempt` is a word that no other attempt has."""

    @property
    def attempt(self) -> str:
        """The word in the name of the attempt's stream."""
        ...

    def refuse_if_lost(self) -> None:
        """Raises LeaseLost if the attempt must not write any more."""
        ...

    def replacing(self, path: Path) -> AbstractContextManager[Path]:
        """`analysis.record.files.replacing`, where the file gets its name only if the attempt may still write."""
        ...


class SoleWriter:
    """The right of who trains in a folder that nobody else knows."""

    attempt = ""

    def refuse_if_lost(self) -> None:
        """It cannot be lost."""

    def replacing(self, path: Path) -> AbstractContextManager[Path]:
        """`analysis.record.files.replacing`."""
        return replacing(path)


@dataclass(frozen=True)
class Holder:
    """A process and where it runs: host, boot of that host, and namespace of process numbers.

    `started` tells it from a later process of the same number.
    """

    host: str
    boot: str
    namespace: str
    process: int
    started: float

    @classmethod
    def this_process(cls) -> "Holder":
        """This process."""
        return cls(*process_space(), os.getpid(), psutil.Process().create_time())

    def is_visible(self) -> bool:
        """Whether this process can tell if that one is alive."""
        return (self.host, self.boot, self.namespace) == process_space()

    def is_alive(self) -> bool:
        """Whether the process is alive; it must be visible."""
        try:
            process = psutil.Process(self.process)
            return process.status() != psutil.STATUS_ZOMBIE and abs(process.create_time() - self.started) < 1
        except psutil.NoSuchProcess:
            return False


@cache
def process_space() -> tuple[str, str, str]:
    """Host, boot and namespace within which a process number means one process; on Linux, elsewhere the host alone."""
    boot, namespace = Path("/proc/sys/kernel/random/boot_id"), Path("/proc/self/ns/pid")
    try:
        return platform.node(), boot.read_text(encoding="ascii").strip(), str(namespace.readlink())
    except OSError:
        return platform.node(), "", ""


@dataclass(frozen=True)
class Lease:
    """The right to write the folder of a trial, until it is released or its holder is gone.

    `attempt` is a random word that no other lease has.
    """

    folder: Path
    number: int
    attempt: str

    @property
    def path(self) -> Path:
        """The file that is the lease."""
        return self.folder / f"lease.{self.number}"

    def refresh(self) -> None:
        """Keep the lease in force, if it is. Raises FileNotFoundError if its folder is gone."""
        if not self.folder.exists():
            raise FileNotFoundError(f"{self.folder} is gone")
        if not self.was_taken_over():
            os.utime(self.path)

    def was_taken_over(self) -> bool:
        """Whether somebody took this holder for gone and went on without it, or removed the folder."""
        if _latest_number(self.folder) != self.number:
            return True
        record = _read_record(self.path)
        return record is None or record[1] != self.attempt

    def refuse_if_lost(self) -> None:
        """Raises LeaseLost if the trial was taken over, FileNotFoundError if its folder is gone."""
        if not self.folder.exists():
            raise FileNotFoundError(f"{self.folder} is gone")
        if self.was_taken_over():
            raise LeaseLost(
                f"another command took trial {self.folder.name} over, as this one had not refreshed its lease for "
                f"{LEASE_TIMEOUT_SECONDS:g} s; this one writes nothing more"
            )

    def replacing(self, path: Path) -> AbstractContextManager[Path]:
        """`analysis.record.files.replacing` under this lease. Raises LeaseLost if it is not in force at the end."""
        return replacing(path, self.refuse_if_lost)

    def release(self) -> None:
        """Give the trial back; the leases that this one followed go with it. Does nothing where it was taken over."""
        if not self.was_taken_over():
            _remove_up_to(self.folder, self.number)


@contextmanager
def refreshed(lease: Lease) -> Iterator[None]:
    """Refresh a lease from a thread of this process while the block runs."""
    ended = threading.Event()

    def refresh() -> None:
        while not ended.wait(HEARTBEAT_SECONDS):
            try:
                lease.refresh()
            except FileNotFoundError:  # the folder is gone: the next write says so
                return

    thread = threading.Thread(target=refresh, name="lease", daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def acquire(folder: Path) -> Lease | None:
    """A lease on the folder, or None while another holder has it."""
    latest = _latest_number(folder)
    if latest is not None and current_holder(folder) is not None:
        return None
    lease = Lease(folder, 0 if latest is None else latest + 1, uuid.uuid4().hex[:12])
    try:
        with lease.path.open("x", encoding="utf-8") as file:
            json.dump({"holder": asdict(Holder.this_process()), "attempt": lease.attempt}, file)
    except FileExistsError:  # somebody was quicker
        return None
    return lease


def remove_dead_leases(folder: Path) -> None:
    """Remove what a holder that is gone left on a trial that it finished."""
    if current_holder(folder) is None and (latest := _latest_number(folder)) is not None:
        _remove_up_to(folder, latest)


def current_holder(folder: Path) -> Holder | None:
    """Who trains the trial of this folder now, if anybody does."""
    latest = _latest_number(folder)
    if latest is None:
        return None
    path = folder / f"lease.{latest}"
    if not path.exists():  # released just now
        return None
    record = _read_record(path)
    if record is not None and record[0].is_visible():
        return record[0] if record[0].is_alive() else None
    if _seconds_since_refreshed(path) >= LEASE_TIMEOUT_SECONDS:
        return None
    return Holder("", "", "", 0, 0.0) if record is None else record[0]  # which is being written


def _read_record(path: Path) -> tuple[Holder, str] | None:
    """The holder and the attempt of a lease; None where the file is gone, is being written, or is damaged."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        return Holder(**record["holder"]), record["attempt"]
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _latest_number(folder: Path) -> int | None:
    numbers = [path.suffix[1:] for path in folder.glob("lease.*")]
    return max((int(number) for number in numbers if number.isdecimal()), default=None)


def _remove_up_to(folder: Path, number: int) -> None:
    """Remove leases up to this one; the last one last, so that none before it is in force meanwhile."""
    for path in (folder / f"lease.{each}" for each in range(number + 1)):
        if not path.is_dir():  # which no lease is
            path.unlink(missing_ok=True)


def _seconds_since_refreshed(path: Path) -> float:
    """Seconds since a file was touched, by the clock of the disk that it lies on."""
    with tempfile.NamedTemporaryFile(dir=path.parent) as now:
        try:
            return os.fstat(now.fileno()).st_mtime - path.stat().st_mtime
        except FileNotFoundError:
            return 0.0
