"""What a complete trial recorded about itself: `summary.json`, which is written last."""

from pathlib import Path
from typing import Any

from analysis.record.files import DamagedFile, read_json
from analysis.record.history import last_sealed_step
from analysis.record.layout import HISTORY, SUMMARY

COMPLETE = ("finished", "diverged")


def read_summary(folder: Path) -> dict[str, Any] | None:
    """The summary of a complete trial; None while the trial is not complete, and where its record is damaged.

    A trial is complete exactly when its summary can be read and its history reaches the summary's last step.
    """
    try:
        return _sound_summary(folder)
    except DamagedFile:
        return None


def trial_damage(folder: Path) -> str:
    """Which file of a trial that claims to be complete is damaged, and how; empty for every other trial."""
    try:
        _sound_summary(folder)
    except DamagedFile as damage:
        return str(damage)
    return ""


def _sound_summary(folder: Path) -> dict[str, Any] | None:
    """The summary, None where there is none. Raises DamagedFile for it, or for the history that it sums up."""
    try:
        summary = read_json(folder / SUMMARY, "status")
    except FileNotFoundError:
        return None
    if summary["status"] not in COMPLETE:
        raise DamagedFile(folder / SUMMARY, f"its status is {summary['status']!r}, not one of {', '.join(COMPLETE)}")
    last, steps = last_sealed_step(folder), summary.get("steps")
    if steps is not None and last != steps:
        raise DamagedFile(folder / HISTORY, f"it ends at step {last}, but {SUMMARY} says step {steps}")
    return summary
