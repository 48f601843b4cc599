"""How far a sweep has come: bars on a terminal, plain lines elsewhere."""

import time
from collections.abc import Callable, Mapping
from datetime import timedelta
from types import TracebackType

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from analysis.record.summary import COMPLETE
from experiments.lifecycle.terminal import printable


class ProgressBoard:
    """Done, running, failed, left and time to go, after each trial and, on a terminal, in between."""

    def __init__(self, total: int, console: Console | None = None) -> None:
        self.console = console or Console(highlight=False, soft_wrap=True)
        self.total, self.started = total, time.monotonic()
        self.done = self.failed = 0
        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
        )
        self._bars = Progress(*columns, console=self.console, disable=not self.console.is_terminal, transient=True)
        self._all = self._bars.add_task("trials", total=total)
        self._each: dict[str, tuple[str, TaskID, float]] = {}

    def __enter__(self) -> "ProgressBoard":
        self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bars.stop()

    def trial_started(self, trial: str, label: str, steps: int) -> None:
        """A trial begins."""
        label = printable(label)
        self._each[trial] = (label, self._bars.add_task(f"  {label}", total=steps), time.monotonic())

    def update_steps(self, steps: Mapping[str, Callable[[], int]]) -> None:
        """How many steps each running trial has taken; only a terminal asks."""
        if self.console.is_terminal:
            for trial, taken in steps.items():
                self._bars.update(self._each[trial][1], completed=taken())

    def trial_ended(self, trial: str, outcome: str, reason: str) -> None:
        """A trial ended; says so in a line of its own."""
        label, seconds = self._close_bar(trial)
        failed = outcome == "failed"
        self.done, self.failed = self.done + (outcome in COMPLETE), self.failed + failed
        self._bars.advance(self._all)
        running, left = len(self._each), self.total - self.done - self.failed - len(self._each)
        counts = f"{self.done} done, {running} running, {self.failed} failed, {left} left"
        why = f" ({reason})" if reason else ""
        self.print_line(f"{label}: {outcome} in {seconds:.0f} s{why} · {counts}, {self._time_left()} to go")

    def trial_will_retry(self, trial: str, reason: str) -> None:
        """A trial failed, and that is not its end."""
        label, seconds = self._close_bar(trial)
        self.print_line(f"{label}: failed in {seconds:.0f} s ({reason})")

    def _close_bar(self, trial: str) -> tuple[str, float]:
        label, bar, started = self._each.pop(trial)
        self._bars.remove_task(bar)
        return label, time.monotonic() - started

    def print_line(self, text: str) -> None:
        """One line above the bars."""
        self._bars.console.print(printable(text), markup=False, emoji=False)

    def _time_left(self) -> str:
        ended = max(1, self.done + self.failed)
        pace = (time.monotonic() - self.started) / ended
        return f"about {timedelta(seconds=round(pace * (self.total - ended)))}"
