"""The state of a trial, as its folder records it."""

import os
from pathlib import Path

from analysis.record.files import DamagedFile
from analysis.record.layout import ATTEMPTS, LOG, OUTCOME, SUMMARY
from analysis.record.outcome import Outcome, latest_outcome
from analysis.record.summary import read_summary
from experiments.lifecycle.attempts import UNRECORDED_END
from experiments.lifecycle.lease import current_holder

STATES = ("finished", "diverged", "running", "stopped", "failed", "damaged", "left")
# The state of a trial that nobody trains, by the outcome of its latest attempt. A complete attempt that was set aside,
# so that more is measured, is left to do.
STATE_AFTER = {"finished": "left", "diverged": "left", "stopped": "stopped", "failed": "failed", "killed": "failed"}
STOPPED_STATUS = os.EX_TEMPFAIL  # the exit status of a trial that was asked to stop and can go on


def trial_state(folder: Path) -> str:
    """One of `STATES`.

    Complete (finished, diverged); held by a live process; stopped, to go on from its checkpoint; failed, or killed;
    damaged: it claims to be complete, and its record cannot be read; or left, never begun.
    """
    if (summary := read_summary(folder)) is not None:
        return summary.status
    if current_holder(folder) is not None:
        return "running"
    if (folder / SUMMARY).exists():
        return "damaged"
    outcome = trial_outcome(folder)
    return "left" if outcome is None else STATE_AFTER[outcome.outcome]


def trial_outcome(folder: Path) -> Outcome | None:
    """How the latest attempt at a trial that nobody trains ended, with a reason in any case; None if none was made."""
    began = (folder / LOG).exists() or (folder / ATTEMPTS).exists()
    try:
        outcome = latest_outcome(folder)
    except DamagedFile as damage:
        return Outcome("failed", reason=str(damage))
    if outcome is None or ((folder / LOG).exists() and not (folder / OUTCOME).exists()):
        return Outcome("killed", reason=UNRECORDED_END) if began else None
    return outcome


def failure_text(folder: Path) -> str:
    """Why the latest attempt at a trial failed, and the log with its traceback; for one whose end is recorded."""
    outcome = trial_outcome(folder)
    if outcome is None:
        return ""
    where = f" ({folder / outcome.traceback})" if outcome.traceback and (folder / outcome.traceback).exists() else ""
    return f"{outcome.reason}{where}"
