"""Run trials on this machine, as many at a time as it has devices for; each is held by a lease while it runs.

Trials are processes of their own, so that an error, a crash or a kill ends one of them.
"""

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import wait
from pathlib import Path

from analysis.record.config_file import read_config
from analysis.record.outcome import Outcome
from analysis.record.summary import read_summary
from experiments.launch.devices import DevicePool, device_pool
from experiments.launch.process import Attempt, start_attempt
from experiments.launch.progress import ProgressBoard
from experiments.lifecycle.lease import HEARTBEAT_SECONDS, acquire, current_holder
from experiments.lifecycle.state import failure_text, trial_state
from experiments.trial.build import Config

STOP_GRACE_SECONDS = 30.0  # seconds that a trial has to write a checkpoint
FAILURES = ("failed", "killed")


def run_trials(folders: Sequence[Path], runtime: Config, beside: int | None = 0) -> dict[Path, str]:
    """How each folder's trial ended: finished, diverged, stopped or failed; those that nobody started are left out.

    `beside` is how many trials of other commands may run on these devices, None where that is unknown.

    An interrupt stops the running trials, which write a checkpoint, and is passed on; a second one ends them at once.
    Raises ValueError if a trial asks for more devices than there are.
    """
    if not folders:
        return {}
    configs = {folder: read_config(folder) for folder in folders}
    devices = device_pool([config["trainer"] for config in configs.values()], runtime)
    with ProgressBoard(len(folders)) as board:
        crowd = None if beside is None else beside + devices.most_others_on_device(len(folders))
        launch = TrialQueue(configs, runtime, devices, board, crowd, list(folders))
        try:
            while launch.step():
                pass
        except BaseException:  # an interrupt, or a folder that cannot be written any more
            launch.request_stop()
            raise
        finally:
            launch.kill_running()
    return launch.outcomes


@dataclass
class TrialQueue:
    """Trials that wait, that run here, that others run, and that have ended."""

    configs: Mapping[Path, Config]
    runtime: Config
    devices: DevicePool
    board: ProgressBoard
    others_on_device: int | None
    waiting: list[Path]
    waiting_for_device_alone: list[Path] = field(default_factory=list)
    held_by_others: list[Path] = field(default_factory=list)
    running: list[Attempt] = field(default_factory=list)
    outcomes: dict[Path, str] = field(default_factory=dict)
    failures: Counter[Path] = field(default_factory=Counter)
    last_heartbeat: float = 0.0

    def step(self) -> bool:
        """Start what there is room for, wait a moment, end what has ended; whether there is more to do."""
        self._start_waiting()
        self._wait_and_refresh()
        self._check_held_by_others()
        return bool(self.waiting or self.running or self.waiting_for_device_alone or self.held_by_others)

    def _start_waiting(self) -> None:
        """What ran out of memory beside others runs again once it can be alone, and nothing beside it."""
        if self.waiting_for_device_alone:
            if not self.running:
                self._start_trial(self.waiting_for_device_alone.pop(0), alone=True)
            return
        while self.waiting and not any(attempt.needs_device_alone for attempt in self.running):
            if not self._start_trial(self.waiting[0]):
                return
            self.waiting.pop(0)

    def _start_trial(self, folder: Path, *, alone: bool = False) -> bool:
        """Start a trial, unless somebody else trains it or has; whether there was room for it."""
        trainer = self.configs[folder]["trainer"]
        names = self.devices.take(folder, trainer["devices"])
        if names is None:
            return False
        lease = acquire(folder)
        if lease is None or read_summary(folder) is not None:
            self.devices.release(folder)
            self.held_by_others.append(folder)
            if lease is not None:
                lease.release()
            return True
        attempt = start_attempt(lease, names, self.configs[folder]["code"], beside=self.others_on_device)
        attempt.needs_device_alone = alone
        self.running.append(attempt)
        self.board.trial_started(folder.name, self.configs[folder]["label"], trainer["max_steps"])
        for attempt in self.running:
            attempt.shared_device |= self.devices.shares_device(attempt.folder)
        return True

    def _wait_and_refresh(self) -> None:
        """Wait until a trial ends, half a second at most; refresh leases; end what takes too long."""
        self.board.update_steps({attempt.folder.name: attempt.recorded_steps for attempt in self.running})
        wait([process.sentinel for attempt in self.running for process in attempt.processes], timeout=0.5)
        minutes = self.runtime["timeout_minutes"]
        for attempt in self.running:
            if minutes is not None and time.monotonic() - attempt.started > 60 * minutes:
                attempt.kill(f"it took longer than runtime.timeout_minutes={minutes}")
        if time.monotonic() - self.last_heartbeat > HEARTBEAT_SECONDS:
            self.last_heartbeat = time.monotonic()
            for attempt in self.running:
                attempt.refresh_lease()
        for attempt in [attempt for attempt in self.running if not attempt.poll()]:
            self._finish_attempt(attempt)

    def _finish_attempt(self, attempt: Attempt) -> None:
        """A trial's processes are gone: it has ended, or is tried once more."""
        self.running.remove(attempt)
        self.devices.release(attempt.folder)
        taken_over = attempt.folder.exists() and attempt.lease.was_taken_over()
        if taken_over and read_summary(attempt.folder) is None:
            self.held_by_others.append(attempt.folder)
            self.board.trial_will_retry(attempt.folder.name, attempt.kill_reason or "another command took it over")
            return
        outcome = attempt.outcome()
        attempt.lease.release()
        failed = outcome.outcome in FAILURES
        if failed and attempt.ran_out_of_memory() and attempt.shared_device:
            self.waiting_for_device_alone.append(attempt.folder)
            self.board.trial_will_retry(attempt.folder.name, f"{outcome.reason}; it runs again when it can be alone")
            return
        self.failures[attempt.folder] += failed
        if failed and self.failures[attempt.folder] <= self.runtime["retries"]:
            self.waiting.append(attempt.folder)
            self.board.trial_will_retry(attempt.folder.name, f"{outcome.reason}; it is tried again")
            return
        self._record_outcome(attempt.folder, outcome)

    def _record_outcome(self, folder: Path, outcome: Outcome) -> None:
        state, reason = "failed" if outcome.outcome in FAILURES else outcome.outcome, outcome.reason or outcome.note
        self.outcomes[folder] = state
        self.board.trial_ended(folder.name, state, reason)
        failed = sum(state == "failed" for state in self.outcomes.values())
        if self.waiting and self.runtime["stop_after"] is not None and failed >= self.runtime["stop_after"]:
            self.board.print_line(f"{failed} failed (runtime.stop_after): {len(self.waiting)} trials are not started")
            self.waiting.clear()

    def _check_held_by_others(self) -> None:
        """What others train ends there, or is taken over from one that is gone; or is left to them."""
        if (
            self.held_by_others
            and self.runtime["elsewhere"] == "leave"
            and not (self.waiting or self.running or self.waiting_for_device_alone)
        ):
            self.board.print_line(f"{len(self.held_by_others)} trials are left to the commands that train them")
            self.held_by_others.clear()
        for folder in list(self.held_by_others):
            running = current_holder(folder) is not None  # before the summary: whoever ends in between has one
            summary = read_summary(folder)
            if summary is None and running:
                continue
            self.held_by_others.remove(folder)
            if summary is None and (any(folder.glob("lease.*")) or trial_state(folder) == "stopped"):
                self.waiting.append(folder)
                continue
            self.board.trial_started(folder.name, f"{self.configs[folder]['label']} (elsewhere)", 0)
            ended = Outcome(summary.status) if summary else Outcome("failed", reason=failure_text(folder))
            self._record_outcome(folder, ended)

    def request_stop(self) -> None:
        """Let running trials write a checkpoint; an interrupt meanwhile ends them at once."""
        self.board.print_line(f"stopping {len(self.running)} trials; once more Ctrl-C ends them at once")
        for attempt in self.running:
            attempt.request_stop()
        for never_started in (self.waiting, self.waiting_for_device_alone, self.held_by_others):
            never_started.clear()
        deadline = time.monotonic() + STOP_GRACE_SECONDS
        while self.running and time.monotonic() < deadline:
            self._wait_and_refresh()

    def kill_running(self) -> None:
        """End whatever still runs, and record that."""
        for attempt in self.running:
            attempt.kill("interrupted")
        for attempt in self.running:
            for process in attempt.processes:
                process.join()
            if not attempt.lease.was_taken_over():
                attempt.outcome()
            attempt.lease.release()
