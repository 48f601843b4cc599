"""One attempt at a trial: its processes, out of a warm server, and how they end."""

import errno
import multiprocessing
import signal
import socket
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from multiprocessing.context import BaseContext
from multiprocessing.process import BaseProcess
from pathlib import Path

from analysis.record.history import read_history
from analysis.record.summary import read_summary
from experiments.launch.devices import VISIBLE_DEVICES
from experiments.lifecycle.attempts import set_attempt_aside
from experiments.lifecycle.lease import Lease
from experiments.lifecycle.state import STOPPED_STATUS, last_log_line
from experiments.trial.process import run_rank
from experiments.trial.rank import Rank


@dataclass
class Attempt:
    """A trial that runs here: a process for each of its devices, which end together."""

    folder: Path
    lease: Lease
    processes: list[BaseProcess]
    started: float
    needs_device_alone: bool = False
    shared_device: bool = False
    kill_reason: str = ""

    def refresh_lease(self) -> None:
        """A sign of life; without a right to the trial any more, end it."""
        try:
            self.lease.refresh()
        except FileNotFoundError:
            self.kill("its folder is gone")
        if self.lease.was_taken_over():
            self.kill("another command took it over, as this one gave no sign of life")

    def poll(self) -> bool:
        """Whether a process still runs; when one failed, the others are ended."""
        running = [process for process in self.processes if process.is_alive()]
        codes = [process.exitcode for process in self.processes if process not in running]
        if running and any(code not in (0, STOPPED_STATUS) for code in codes):
            self.kill("")
        return bool(running)

    def recorded_steps(self) -> int:
        """Optimizer steps on record."""
        history = read_history(self.folder)
        return 0 if history is None else history["step"][-1].as_py()

    def outcome(self) -> tuple[str, str]:
        """How it ended (finished, diverged, stopped, failed), and why if it failed."""
        if (summary := read_summary(self.folder)) is not None:
            return summary.status, ""
        codes = [process.exitcode for process in self.processes if process.exitcode]
        if codes and set(codes) == {STOPPED_STATUS} and not self.kill_reason:
            return "stopped", last_log_line(self.folder)
        return "failed", self.kill_reason or _failure_reason(codes, self.folder)

    def ran_out_of_memory(self) -> bool:
        """Whether it said that memory did not suffice."""
        return any(process.exitcode == errno.ENOMEM for process in self.processes)

    def kill(self, reason: str) -> None:
        """At once."""
        self.kill_reason = self.kill_reason or reason
        for process in self.processes:
            process.kill()

    def request_stop(self) -> None:
        """Ask it to write down where it stands and to end."""
        for process in self.processes:
            process.terminate()


def start_attempt(
    folder: Path, lease: Lease, names: Sequence[str], code: str, *, beside: int | None = 0, steps: int | None = None
) -> Attempt:
    """Start a trial's processes, one on each of these devices; what was left there is put aside.

    `beside` is how many other trials may run on a device of it, `recorded_steps` how many it takes, if not all.
    """
    set_attempt_aside(folder)
    port = _free_port()
    processes = []
    for rank in (Rank(number, len(names), beside) for number in range(len(names))):
        place = {"LOCAL_RANK": rank.number, "NODE_RANK": 0, "WORLD_SIZE": rank.world, "MASTER_PORT": port}
        environment = {key: str(value) for key, value in place.items()} if rank.world > 1 else {}
        environment |= {"MASTER_ADDR": "127.0.0.1"} if rank.world > 1 else {}
        environment |= {VISIBLE_DEVICES: ",".join(names)} if any(names) else {}
        given = (folder, rank, environment, code, steps)
        processes.append(_process_context().Process(target=run_rank, args=given, name=f"trial {folder.name}"))  # type: ignore[attr-defined]
        processes[-1].start()
    return Attempt(folder, lease, processes, time.monotonic())


@cache
def _process_context() -> BaseContext:
    """Forked from a server that has torch and Lightning loaded; where forking is not safe, started anew.

    A new process is told the default of this one, which other launchers' workers have set to methods of their own.
    """
    method = "forkserver" if sys.platform == "linux" else "spawn"
    multiprocessing.set_start_method(method, force=True)
    context = multiprocessing.get_context(method)
    context.set_forkserver_preload(["experiments.trial.preload"])
    return context


def _failure_reason(codes: Sequence[int], folder: Path) -> str:
    """Why processes with these exit codes ended."""
    if codes and codes[0] < 0:
        name = signal.Signals(-codes[0]).name
        return f"killed by {name}" + (", perhaps for want of memory" if name == "SIGKILL" else "")
    return last_log_line(folder) or f"exit status {codes[0] if codes else 0} without a word"


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
