"""One attempt at a trial: its processes, out of a warm server, and how they end."""

import errno
import multiprocessing
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from multiprocessing.context import BaseContext
from multiprocessing.process import BaseProcess
from pathlib import Path

from experiments.folder import LOG, SUMMARY, finished
from experiments.lease import Lease
from experiments.pool import MASK
from experiments.rank import Rank
from experiments.recorder import STREAM, TABLE, read
from experiments.state import STOPPED, last_line


@dataclass
class Attempt:
    """A trial that runs here: a process for each of its devices, which end together."""

    folder: Path
    lease: Lease
    processes: list[BaseProcess]
    started: float
    alone: bool = False
    crowded: bool = False
    ended_for: str = ""

    def hold(self) -> None:
        """A sign of life; without a right to the trial any more, end it."""
        try:
            self.lease.beat()
        except FileNotFoundError:
            self.end("its folder is gone")
        if self.lease.lost():
            self.end("another command took it over, as this one gave no sign of life")

    def alive(self) -> bool:
        """Whether a process still runs; when one failed, the others are ended."""
        running = [process for process in self.processes if process.is_alive()]
        codes = [process.exitcode for process in self.processes if process not in running]
        if running and any(code not in (0, STOPPED) for code in codes):
            self.end("")
        return bool(running)

    def steps(self) -> int:
        """Optimizer steps on record."""
        history = read(self.folder)
        return 0 if history is None else history["step"][-1].as_py()

    def outcome(self) -> tuple[str, str]:
        """How it ended (finished, diverged, stopped, failed), and why if it failed."""
        if (summary := finished(self.folder)) is not None:
            return summary["status"], ""
        codes = [process.exitcode for process in self.processes if process.exitcode]
        if codes and set(codes) == {STOPPED} and not self.ended_for:
            return "stopped", last_line(self.folder)
        return "failed", self.ended_for or _told(codes, self.folder)

    def out_of_memory(self) -> bool:
        """Whether it said that memory did not suffice."""
        return any(process.exitcode == errno.ENOMEM for process in self.processes)

    def end(self, reason: str) -> None:
        """At once."""
        self.ended_for = self.ended_for or reason
        for process in self.processes:
            process.kill()

    def stop(self) -> None:
        """Ask it to write down where it stands and to end."""
        for process in self.processes:
            process.terminate()


def begin(
    folder: Path, lease: Lease, names: Sequence[str], code: str, *, beside: int | None = 0, steps: int | None = None
) -> Attempt:
    """Start a trial's processes, one on each of these devices; what was left there is put aside.

    `beside` is how many other trials may run on a device of it, `steps` how many it takes, if not all.
    """
    set_aside(folder)
    port = _free_port()
    processes = []
    for rank in (Rank(number, len(names), beside) for number in range(len(names))):
        place = {"LOCAL_RANK": rank.number, "NODE_RANK": 0, "WORLD_SIZE": rank.world, "MASTER_PORT": port}
        environment = {key: str(value) for key, value in place.items()} if rank.world > 1 else {}
        environment |= {"MASTER_ADDR": "127.0.0.1"} if rank.world > 1 else {}
        environment |= {MASK: ",".join(names)} if any(names) else {}
        given = (folder, rank, environment, code, steps)
        processes.append(_context().Process(target=child, args=given, name=f"trial {folder.name}"))  # type: ignore[attr-defined]
        processes[-1].start()
    return Attempt(folder, lease, processes, time.monotonic())


def child(folder: Path, rank: Rank, environment: dict[str, str], code: str, steps: int | None) -> None:
    """The trial's process: it outlives neither its parent nor its trial, and leaves interrupts to its parent."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ |= environment
    from experiments.trial import main

    main(folder, rank, code, steps)


@cache
def _context() -> BaseContext:
    """Forked from a server that has torch and Lightning loaded; where forking is not safe, started anew.

    A new process is told the default of this one, which other launchers' workers have set to methods of their own.
    """
    method = "forkserver" if sys.platform == "linux" else "spawn"
    multiprocessing.set_start_method(method, force=True)
    context = multiprocessing.get_context(method)
    context.set_forkserver_preload(["experiments.warm"])
    return context


def set_aside(folder: Path) -> None:
    """Move what an attempt left into `attempts/N/`; a summary first, so that no trial seems complete that is not."""
    left = [folder / name for name in (SUMMARY, STREAM, TABLE, LOG) if (folder / name).exists()]
    left += folder.glob("rank*.log")
    if left:
        attempts = folder / "attempts"
        home = attempts / str(max((int(path.name) for path in attempts.glob("*")), default=-1) + 1)
        home.mkdir(parents=True)
        for path in left:
            path.rename(home / path.name)


def _told(codes: Sequence[int], folder: Path) -> str:
    """Why processes with these exit codes ended."""
    if codes and codes[0] < 0:
        name = signal.Signals(-codes[0]).name
        return f"killed by {name}" + (", perhaps for want of memory" if name == "SIGKILL" else "")
    return last_line(folder) or f"exit status {codes[0] if codes else 0} without a word"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
