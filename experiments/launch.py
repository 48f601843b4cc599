"""Run trials on this machine, as many at a time as it has devices for; each is held by a lease while it runs.

Trials are processes of their own, so that an error, a crash or a kill ends one of them.
"""

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

import yaml

from experiments.attempt import Attempt, begin
from experiments.folder import CONFIG, finished
from experiments.lease import BEAT, holder, take
from experiments.pool import Pool, pool
from experiments.progress import Board
from experiments.state import last_line, state

GRACE = 30.0  # seconds that a trial has to write down where it stands


def run(folders: Sequence[Path], runtime: Mapping[str, Any], beside: int | None = 0) -> dict[Path, str]:
    """How each folder's trial ended: finished, diverged, stopped or failed; those that nobody started are left out.

    `beside` is how many trials that others start may run on its devices meanwhile, None where that cannot be known.

    An interrupt stops the running trials, which write down where they stand, and is passed on; a second one ends
    them at once. Raises ValueError if a trial asks for more devices than there are.
    """
    if not folders:
        return {}
    configs = {folder: yaml.safe_load((folder / CONFIG).read_text(encoding="utf-8")) for folder in folders}
    devices = pool([config["trainer"] for config in configs.values()], runtime)
    with Board(len(folders)) as board:
        crowd = None if beside is None else beside + devices.beside(len(folders))
        launch = Launch(configs, runtime, devices, board, crowd, list(folders))
        try:
            while launch.step():
                pass
        except BaseException:  # an interrupt, or a folder that cannot be written any more
            launch.stop()
            raise
        finally:
            launch.end()
    return launch.outcomes


@dataclass
class Launch:
    """Trials that wait, that run here, that others run, and that have ended."""

    configs: Mapping[Path, Mapping[str, Any]]
    runtime: Mapping[str, Any]
    devices: Pool
    board: Board
    beside: int | None
    waiting: list[Path]
    alone: list[Path] = field(default_factory=list)
    elsewhere: list[Path] = field(default_factory=list)
    running: list[Attempt] = field(default_factory=list)
    outcomes: dict[Path, str] = field(default_factory=dict)
    failures: Counter[Path] = field(default_factory=Counter)
    beaten: float = 0.0

    def step(self) -> bool:
        """Start what there is room for, wait a moment, end what has ended; whether there is more to do."""
        self._start()
        self._watch()
        self._look_elsewhere()
        return bool(self.waiting or self.running or self.alone or self.elsewhere)

    def _start(self) -> None:
        """What ran out of memory beside others runs again once it can be alone, and nothing beside it."""
        if self.alone:
            if not self.running:
                self._begin(self.alone.pop(0), alone=True)
            return
        while self.waiting and not any(attempt.alone for attempt in self.running):
            if not self._begin(self.waiting[0]):
                return
            self.waiting.pop(0)

    def _begin(self, folder: Path, *, alone: bool = False) -> bool:
        """Start a trial, unless somebody else trains it or has; whether there was room for it."""
        trainer = self.configs[folder]["trainer"]
        names = self.devices.take(folder, trainer["devices"])
        if names is None:
            return False
        lease = take(folder)
        if lease is None or finished(folder) is not None:
            self.devices.give(folder)
            self.elsewhere.append(folder)
            if lease is not None:
                lease.release()
            return True
        self.running.append(begin(folder, lease, names, self.configs[folder]["code"], beside=self.beside))
        self.running[-1].alone = alone
        self.board.start(folder.name, self.configs[folder]["label"], trainer["max_steps"])
        for attempt in self.running:
            attempt.crowded |= self.devices.shares(attempt.folder)
        return True

    def _watch(self) -> None:
        """Wait until a trial ends, half a second at most; show signs of life; end what takes too long."""
        self.board.running({attempt.folder.name: attempt.steps for attempt in self.running})
        wait([process.sentinel for attempt in self.running for process in attempt.processes], timeout=0.5)
        minutes = self.runtime["timeout_minutes"]
        for attempt in self.running:
            if minutes is not None and time.monotonic() - attempt.started > 60 * minutes:
                attempt.end(f"it took longer than runtime.timeout_minutes={minutes}")
        if time.monotonic() - self.beaten > BEAT:
            self.beaten = time.monotonic()
            for attempt in self.running:
                attempt.hold()
        for attempt in [attempt for attempt in self.running if not attempt.alive()]:
            self._end(attempt)

    def _end(self, attempt: Attempt) -> None:
        """A trial's processes are gone: it has ended, or is tried once more."""
        self.running.remove(attempt)
        self.devices.give(attempt.folder)
        if attempt.lease.lost() and finished(attempt.folder) is None:
            self.elsewhere.append(attempt.folder)
            self.board.again(attempt.folder.name, attempt.ended_for)
            return
        attempt.lease.release()
        state, reason = attempt.outcome()
        if state == "failed" and attempt.out_of_memory() and attempt.crowded:
            self.alone.append(attempt.folder)
            self.board.again(attempt.folder.name, f"{reason}; it runs again when it can be alone")
            return
        self.failures[attempt.folder] += state == "failed"
        if state == "failed" and self.failures[attempt.folder] <= self.runtime["retries"]:
            self.waiting.append(attempt.folder)
            self.board.again(attempt.folder.name, f"{reason}; it is tried again")
            return
        self._conclude(attempt.folder, state, reason)

    def _conclude(self, folder: Path, state: str, reason: str) -> None:
        self.outcomes[folder] = state
        self.board.end(folder.name, state, reason)
        failed = sum(state == "failed" for state in self.outcomes.values())
        if self.waiting and self.runtime["stop_after"] is not None and failed >= self.runtime["stop_after"]:
            self.board.say(f"{failed} failed (runtime.stop_after): {len(self.waiting)} trials are not started")
            self.waiting.clear()

    def _look_elsewhere(self) -> None:
        """What others train ends there, or is taken over from one that is gone; or is left to them."""
        if self.elsewhere and self.runtime["elsewhere"] == "leave" and not (self.waiting or self.running or self.alone):
            self.board.say(f"{len(self.elsewhere)} trials are left to the commands that train them")
            self.elsewhere.clear()
        for folder in list(self.elsewhere):
            held = holder(folder) is not None  # before the summary: whoever ends in between has one
            summary = finished(folder)
            if summary is None and held:
                continue
            self.elsewhere.remove(folder)
            if summary is None and (any(folder.glob("lease.*")) or state(folder) == "stopped"):
                self.waiting.append(folder)
                continue
            self.board.start(folder.name, f"{self.configs[folder]['label']} (elsewhere)", 0)
            self._conclude(folder, summary["status"] if summary else "failed", "" if summary else last_line(folder))

    def stop(self) -> None:
        """Let running trials write down where they stand; an interrupt meanwhile ends them at once."""
        self.board.say(f"stopping {len(self.running)} trials; once more Ctrl-C ends them at once")
        for attempt in self.running:
            attempt.stop()
        self.waiting, self.alone, self.elsewhere, deadline = [], [], [], time.monotonic() + GRACE
        while self.running and time.monotonic() < deadline:
            self._watch()

    def end(self) -> None:
        """Whatever still runs is ended."""
        for attempt in self.running:
            attempt.end("interrupted")
        for attempt in self.running:
            for process in attempt.processes:
                process.join()
            attempt.lease.release()
