"""One attempt at a trial: its processes, out of a warm server, and how they end."""

import errno
import multiprocessing
import signal
import sys
import tempfile
import time
import uuid
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from multiprocessing.context import BaseContext
from multiprocessing.process import BaseProcess
from pathlib import Path

from analysis.record.files import DamagedFile, disk_full_text
from analysis.record.outcome import Outcome, read_outcome, write_outcome
from analysis.record.summary import read_summary, trial_damage
from experiments.launch.devices import VISIBLE_DEVICES
from experiments.lifecycle.attempts import recorded_step, set_attempt_aside
from experiments.lifecycle.lease import Lease
from experiments.lifecycle.state import STOPPED_STATUS
from experiments.trial.process import run_rank
from experiments.trial.rank import Rank

LOOPBACK = "lo" if sys.platform == "linux" else "lo0"
INTERFACE_VARIABLES = ("GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME")  # what the ranks of a trial, on one host, talk over


@dataclass
class Attempt:
    """A trial that runs here: a process for each of its devices, which end together."""

    folder: Path
    lease: Lease
    processes: list[BaseProcess]
    started: float
    rendezvous: Path
    needs_device_alone: bool = False
    shared_device: bool = False
    kill_reason: str = ""

    def refresh_lease(self) -> None:
        """Refresh the lease; kill the trial if the lease was lost."""
        try:
            self.lease.refresh()
        except FileNotFoundError:
            self.kill("its folder is gone")
        if self.lease.was_taken_over():
            self.kill("another command took it over, as this one had not refreshed its lease")

    def poll(self) -> bool:
        """Whether a process still runs; when one failed, the others are ended."""
        running = [process for process in self.processes if process.is_alive()]
        codes = [process.exitcode for process in self.processes if process not in running]
        if running and any(code not in (0, STOPPED_STATUS) for code in codes):
            for process in running:
                process.kill()
        if not running:
            self.rendezvous.unlink(missing_ok=True)
        return bool(running)

    def recorded_steps(self) -> int:
        """Optimizer steps on record."""
        return recorded_step(self.folder) or 0

    def outcome(self) -> Outcome:
        """How it ended, once no process runs: as recorded by the process that ended it, and else recorded now.

        The lease must be in force.
        """
        recorded = _recorded_outcome(self.folder)
        if (summary := read_summary(self.folder)) is not None:
            return Outcome(summary.status, summary.steps, note=recorded.note if recorded else "")
        if recorded is not None:
            return recorded
        outcome = self._unrecorded_outcome()
        with suppress(OSError):  # a full disk, or no folder any more: the launcher says it all the same
            write_outcome(self.folder, outcome)
        return outcome

    def _unrecorded_outcome(self) -> Outcome:
        """What the parent knows of processes that ended without a record."""
        codes = [process.exitcode for process in self.processes]
        rank, code = next(((rank, code) for rank, code in enumerate(codes) if code), (None, 0))
        step = recorded_step(self.folder)
        if self.kill_reason:
            return Outcome("killed", step, self.kill_reason)
        if code and code < 0:
            return Outcome("killed", step, _signal_text(-code), rank)
        if code == errno.ENOSPC:
            return Outcome("failed", step, disk_full_text(self.folder), rank)
        return Outcome("failed", step, trial_damage(self.folder) or f"exit status {code} without a record", rank)

    def ran_out_of_memory(self) -> bool:
        """Whether a process ended because memory did not suffice."""
        return any(process.exitcode == errno.ENOMEM for process in self.processes)

    def kill(self, reason: str) -> None:
        """End all processes at once."""
        self.kill_reason = self.kill_reason or reason
        for process in self.processes:
            process.kill()

    def request_stop(self) -> None:
        """Ask the processes to write a checkpoint and to end."""
        for process in self.processes:
            process.terminate()


def _recorded_outcome(folder: Path) -> Outcome | None:
    try:
        return read_outcome(folder)
    except DamagedFile:
        return None


def _signal_text(number: int) -> str:
    name = signal.Signals(number).name
    return f"killed by {name}" + (", perhaps by the system for want of memory" if name == "SIGKILL" else "")


def start_attempt(
    lease: Lease, names: Sequence[str], code: str, *, beside: int | None = 0, steps: int | None = None
) -> Attempt:
    """Start the processes of the leased trial, one on each of these devices; what was left there is set aside.

    `beside` is how many other trials may run on a device of it, `steps` how many steps it takes, if not all.
    Raises LeaseLost if the lease is not in force any more.
    """
    set_attempt_aside(lease)
    rendezvous = Path(tempfile.gettempdir(), f"knockout-{uuid.uuid4().hex}")
    processes: list[BaseProcess] = []
    for number in range(len(names)):
        rank = Rank(number, len(names), beside, str(rendezvous))
        environment = rank_environment(rank, names)
        arguments = (lease, rank, environment, code, steps)
        process = _process_context().Process(target=run_rank, args=arguments, name=f"trial {lease.folder.name}")  # type: ignore[attr-defined]
        process.start()
        processes.append(process)
    return Attempt(lease.folder, lease, processes, time.monotonic(), rendezvous)


def rank_environment(rank: Rank, names: Sequence[str]) -> dict[str, str]:
    """The environment of a trial's process: the devices it sees, and which of several processes it is."""
    visible = {VISIBLE_DEVICES: ",".join(names)} if any(names) else {}
    if rank.world == 1:
        return visible
    place = {"LOCAL_RANK": str(rank.number), "NODE_RANK": "0", "WORLD_SIZE": str(rank.world)}
    return visible | place | dict.fromkeys(INTERFACE_VARIABLES, LOOPBACK)


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
