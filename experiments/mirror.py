"""MLflow, fed from the record: one process a sweep follows the histories and is MLflow's only writer.

The results folder is the record; this is its live view. A server that is down costs a warning.
"""

import logging
import multiprocessing
import os
import signal
import sys
from multiprocessing.synchronize import Event
from pathlib import Path
from types import TracebackType

PATIENCE = 60.0  # seconds that a sweep waits for MLflow at its end


class Mirror:
    """Follows a study while the `with` block runs, and once more at its end."""

    def __init__(self, home: Path, uri: str | None) -> None:
        self.off, self.uri = uri == "none", uri or store_of(home.parents[1])
        context = multiprocessing.get_context("spawn")
        self.stop, self.concluded = context.Event(), context.Event()
        follower = (home, self.uri, self.stop, self.concluded)
        self.process = context.Process(target=follow, args=follower, name="mlflow mirror", daemon=True)

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
            self.process.join(PATIENCE)
            if self.process.is_alive():
                self.process.terminate()
                print(f"warning: MLflow at {self.uri} does not answer; the results folder is complete", file=sys.stderr)


def store_of(results: Path) -> str:
    """The SQLite file in a results folder, as MLflow names it."""
    return f"sqlite:///{results.absolute() / 'mlflow.db'}"


def follow(home: Path, uri: str, stop: Event, concluded: Event) -> None:
    """Bring MLflow up to date every two seconds until told to stop or left alone, then a last time."""
    from experiments.runs import Shown

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    logging.disable(logging.WARNING)
    os.environ |= {"MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1", "MLFLOW_HTTP_REQUEST_TIMEOUT": "10"}
    parent = multiprocessing.parent_process()
    try:
        shown = Shown.of(home, uri)
        while not stop.wait(2.0) and parent is not None and parent.is_alive():
            shown.update()
        shown.update()
        shown.conclude(whole=concluded.is_set())
    except Exception as error:  # training never fails because a tracker does
        reason = f"{type(error).__name__}: {error}"
        print(f"warning: MLflow at {uri} is not up to date, the results folder is ({reason})", file=sys.stderr)
