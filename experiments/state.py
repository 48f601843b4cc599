"""What has become of a trial, as its folder tells it to whoever asks."""

import os
from pathlib import Path

from experiments.folder import CHECKPOINT, LOG, finished
from experiments.lease import holder

STATES = ("finished", "diverged", "running", "stopped", "failed", "left")
STOP = "to be continued from there"  # the last words of a trial that was asked to stop
STOPPED = os.EX_TEMPFAIL  # its exit status: it can go on
DONE = ("finished", "diverged")


def state(folder: Path) -> str:
    """One of `STATES`: complete, held by a live process, waiting to go on, ended in an error or a kill, not begun."""
    if (summary := finished(folder)) is not None:
        return summary["status"]
    if holder(folder) is not None:
        return "running"
    if (folder / CHECKPOINT).exists() and STOP in last_line(folder):
        return "stopped"
    return "failed" if (folder / LOG).exists() or (folder / "attempts").exists() else "left"


def last_line(folder: Path) -> str:
    """What a trial said last, in this attempt or in the one before."""
    logs = [folder / LOG, *sorted((folder / "attempts").glob(f"*/{LOG}"), reverse=True)]
    for log in (log for log in logs if log.exists()):
        lines = log.read_text(encoding="utf-8", errors="replace").split("\n")
        return next((line.strip() for line in reversed(lines) if line.strip()), "")
    return ""
