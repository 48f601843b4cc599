"""MLflow, fed from the record: one process a sweep follows the histories and is MLflow's only writer.

The results folder is the record; this is its live view. A server that is down, or a database that is locked,
costs a warning; what it missed it is sent when it answers again, or by `knockout sync`.
"""

import logging
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.synchronize import Event
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from analysis.files import write
from experiments.folder import SHOWN
from experiments.lease import Lease, take

if TYPE_CHECKING:
    from experiments.runs import Shown

PATIENCE = 60.0  # seconds that a sweep waits for MLflow at its end
OWN = ("MLFLOW_RUN_ID", "MLFLOW_EXPERIMENT_ID", "MLFLOW_EXPERIMENT_NAME")  # what other tools mean for their own runs


class Mirror:
    """Follows a study while the `with` block runs, and once more at its end."""

    def __init__(self, home: Path, uri: str | None) -> None:
        self.home, self.off, self.uri = home, uri == "none", uri or store_of(home.parents[1])
        if not self.off:
            refuse_folder(self.uri)
        context = multiprocessing.get_context("spawn")
        self.stop, self.concluded = context.Event(), context.Event()
        follower = (home, self.uri, self.stop, self.concluded)
        self.process = context.Process(target=follow, args=follower, name="mlflow mirror", daemon=True)

    def shown(self) -> bool:
        """Whether MLflow has been shown the whole study, report and all."""
        marks = self.home / SHOWN
        return self.off or (marks.exists() and self.uri in marks.read_text(encoding="utf-8").splitlines())

    def __enter__(self) -> "Mirror":
        if not self.off:
            self.process.start()
        return self

    def conclude(self) -> None:
        """The study has its report: its effects and its page may be shown."""
        self.concluded.set()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop.set()
        if not self.off:
            self.process.join(PATIENCE + 10)
            if self.process.is_alive():
                self.process.kill()
                print(f"warning: MLflow at {self.uri} does not answer; the results folder is complete", file=sys.stderr)


def store_of(results: Path) -> str:
    """The SQLite file in a results folder, as MLflow names it."""
    return f"sqlite:///{results.absolute() / 'mlflow.db'}"


def refuse_folder(uri: str) -> None:
    """Raises ValueError for a folder of files, which MLflow does not write any more."""
    if "://" not in uri or uri.startswith("file:"):
        raise ValueError(
            f"runtime.tracking_uri={uri} is a folder, and MLflow writes none any more; leave it out for SQLite in the "
            "results folder, or name a database, sqlite:////PATH/mlflow.db, or a server, http://HOST:5000"
        )


def follow(home: Path, uri: str, stop: Event, concluded: Event) -> None:
    """Bring MLflow up to date every two seconds until told to stop or left alone, then a last time."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    parent = multiprocessing.parent_process()

    def over() -> bool:
        return stop.is_set() or parent is None or not parent.is_alive()

    with alone(home, over) as lease:
        if lease is not None:

            def ending() -> bool:
                lease.beat()
                return stop.wait(2.0) or over()

            keep_up(home, uri, ending, concluded.is_set, stop.is_set)


@contextmanager
def alone(folder: Path, over: Callable[[], bool]) -> Iterator[Lease | None]:
    """A lease on what others must not write meanwhile: waited for until it is there, or until there is no need."""
    lease = take(folder)
    while lease is None and not over():
        time.sleep(0.2)
        lease = take(folder)
    try:
        yield lease
    finally:
        if lease is not None:
            lease.release()


def keep_up(
    home: Path, uri: str, over: Callable[[], bool], whole: Callable[[], bool], awaited: Callable[[], bool]
) -> bool:
    """Show a study until it is over; whether all of it is shown.

    What fails is tried again, for a while even after the end if that is awaited.
    """
    from experiments.runs import Shown

    logging.disable(logging.WARNING)
    os.environ |= {"MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1", "MLFLOW_HTTP_REQUEST_TIMEOUT": "10"}
    for name in OWN:
        os.environ.pop(name, None)
    shown: Shown | None = None
    warned, deadline = False, float("inf")
    while True:
        ending = over()
        deadline = min(deadline, time.monotonic() + PATIENCE * awaited()) if ending else deadline
        try:
            shown = shown or _first(home, uri)
            shown.update()
            if ending:
                shown.conclude(whole=whole())
                if whole():
                    write(home / SHOWN, f"{uri}\n")
                return True
        except Exception as error:  # training never fails because a tracker does
            if not warned or time.monotonic() > deadline:
                reason = f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
                later = "it is tried again" if not warned else "`knockout sync` sends what it lacks"
                print(f"warning: MLflow at {uri} is not up to date; {later} ({reason})", file=sys.stderr)
            warned = True
            if ending and (
                time.monotonic() > deadline or "locked" not in str(error)
            ):  # which a database is for a while
                return False


def _first(home: Path, uri: str) -> "Shown":
    """The study's runs, found or made; one process at a time, as each would make the database's tables."""
    from experiments.runs import Shown

    with alone(home.parent, lambda: False):
        return Shown.of(home, uri)
