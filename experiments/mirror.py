"""MLflow, fed from the record: one process a sweep follows the histories and is MLflow's only writer.

The results folder is the record; this is its live view. A server that is down costs a warning.
"""

import logging
import multiprocessing
import signal
import sys
from multiprocessing.synchronize import Event
from pathlib import Path
from types import TracebackType


class Mirror:
    """Follows a study while the `with` block runs, and once more at its end."""

    def __init__(self, home: Path, uri: str | None) -> None:
        self.off = uri == "off"
        context = multiprocessing.get_context("spawn")
        self.stop = context.Event()
        self.process = context.Process(
            target=follow, args=(home, uri or store_of(home.parents[1]), self.stop), name="mlflow mirror"
        )

    def __enter__(self) -> "Mirror":
        if not self.off:
            self.process.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop.set()
        if not self.off:
            self.process.join()


def store_of(results: Path) -> str:
    """The SQLite file in a results folder, as MLflow names it."""
    return f"sqlite:///{results.absolute() / 'mlflow.db'}"


def follow(home: Path, uri: str, stop: Event) -> None:
    """Bring MLflow up to date every two seconds until told to stop or left alone, then a last time."""
    from experiments.runs import Shown

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    logging.disable(logging.WARNING)
    parent = multiprocessing.parent_process()
    try:
        shown = Shown.of(home, uri)
        while not stop.wait(2.0) and parent is not None and parent.is_alive():
            shown.update()
        shown.update()
        shown.conclude()
    except Exception as error:  # training never fails because a tracker does
        reason = f"{type(error).__name__}: {error}"
        print(f"warning: MLflow at {uri} is not up to date, the results folder is ({reason})", file=sys.stderr)
