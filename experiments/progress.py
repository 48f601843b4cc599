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

from experiments.state import DONE


class Board:
    """Done, running, failed, left and time to go, after each trial and, on a terminal, in between."""

    def __init__(self, total: int, console: Console | None = None) -> None:
        self.console = console or Console(highlight=False, soft_wrap=True)
        self.total, self.started = total, time.monotonic()
        self.done = self.failed = 0
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
        )
        self._bars = Progress(*columns, console=self.console, disable=not self.console.is_terminal, transient=True)
        self._all = self._bars.add_task("trials", total=total)
        self._each: dict[str, tuple[str, TaskID, float]] = {}

    def __enter__(self) -> "Board":
        self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bars.stop()

    def start(self, trial: str, label: str, steps: int) -> None:
        """A trial begins."""
        self._each[trial] = (label, self._bars.add_task(f"  {label}", total=steps), time.monotonic())

    def running(self, steps: Mapping[str, Callable[[], int]]) -> None:
        """How many steps each running trial has taken; only a terminal asks."""
        if self.console.is_terminal:
            for trial, taken in steps.items():
                self._bars.update(self._each[trial][1], completed=taken())

    def end(self, trial: str, outcome: str, reason: str) -> None:
        """A trial ended; says so in a line of its own."""
        label, seconds = self._over(trial)
        failed = outcome == "failed"
        self.done, self.failed = self.done + (outcome in DONE), self.failed + failed
        self._bars.advance(self._all)
        running, left = len(self._each), self.total - self.done - self.failed - len(self._each)
        counts = f"{self.done} done, {running} running, {self.failed} failed, {left} left"
        why = f" ({reason})" if reason else ""
        self.say(f"{label}: {outcome} in {seconds:.0f} s{why} · {counts}, {self._to_go()} to go")

    def again(self, trial: str, reason: str) -> None:
        """A trial failed, and that is not its end."""
        label, seconds = self._over(trial)
        self.say(f"{label}: failed in {seconds:.0f} s ({reason})")

    def _over(self, trial: str) -> tuple[str, float]:
        label, bar, started = self._each.pop(trial)
        self._bars.remove_task(bar)
        return label, time.monotonic() - started

    def say(self, text: str) -> None:
        """One line above the bars."""
        self._bars.console.print(text, markup=False)

    def _to_go(self) -> str:
        ended = max(1, self.done + self.failed)
        pace = (time.monotonic() - self.started) / ended
        return f"about {timedelta(seconds=round(pace * (self.total - ended)))}"
