"""What a complete trial recorded about itself: `summary.json`, which is written last."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from analysis.record.files import DamagedFile, Replacing, read_json, reading, replacing, write_text
from analysis.record.history import last_sealed_step
from analysis.record.layout import HISTORY, SUMMARY
from analysis.record.plain import FORMAT, refuse_other_format

COMPLETE = ("finished", "diverged")


@dataclass(frozen=True)
class DataSummary:
    """The data that a trial read: vocabulary in tokens, the lowest loss possible if it is known, a digest of it all."""

    vocabulary: int
    floor: float | None
    content: str


@dataclass(frozen=True)
class TrialSummary:
    """One complete trial.

    `status` is one of `COMPLETE`; `steps` counts optimizer steps, up to the divergence if there was one at
    `diverged_step`; `best_step` had the lowest validation loss; `seconds` are of the clock. `others_on_device` counts
    the other trials that may have run on its device meanwhile, None if that is unknown. `meaning` holds a value for
    each facet of what its measures are about, which `Measure.about` names.
    """

    status: str
    diverged_step: int | None
    steps: int
    best_step: int
    tokens: int
    parameters: int
    peak_memory_mb: float
    devices: int
    others_on_device: int | None
    resumed_from: int | None
    seeds: Mapping[str, int]
    data: DataSummary
    code: str
    git: str
    versions: Mapping[str, str]
    seconds: float
    cpu_seconds: float
    meaning: Mapping[str, str] = field(default_factory=dict)


def read_summary(folder: Path) -> TrialSummary | None:
    """The summary of a complete trial; None while the trial is not complete, and where its record is damaged.

    A trial is complete exactly when its summary can be read and its history reaches the summary's last step.
    Raises ValueError for a summary of another format.
    """
    try:
        return _sound_summary(folder)
    except DamagedFile:
        return None


def trial_damage(folder: Path) -> str:
    """Which file of a trial that claims to be complete is damaged, and how; empty for every other trial.

    Raises ValueError for a summary of another format.
    """
    try:
        _sound_summary(folder)
    except DamagedFile as damage:
        return str(damage)
    return ""


def write_summary(folder: Path, summary: TrialSummary, replace: Replacing = replacing) -> None:
    """Write `summary.json`, which makes the trial complete."""
    content = {"format": FORMAT} | asdict(summary)
    content["beside"] = content.pop("others_on_device")
    write_text(folder / SUMMARY, json.dumps(content, indent=2, ensure_ascii=False), replace)


def _sound_summary(folder: Path) -> TrialSummary | None:
    """The summary, None where there is none. Raises DamagedFile for it, or for the history that it sums up."""
    path = folder / SUMMARY
    try:
        content = read_json(path)
    except FileNotFoundError:
        return None
    refuse_other_format(path, content)
    with reading(path):
        values = {key: value for key, value in content.items() if key not in ("format", "beside", "data")}
        summary = TrialSummary(**values, others_on_device=content["beside"], data=DataSummary(**content["data"]))
    if summary.status not in COMPLETE:
        raise DamagedFile(path, f"its status is {summary.status!r}, not one of {', '.join(COMPLETE)}")
    last = last_sealed_step(folder)
    if last != summary.steps:
        raise DamagedFile(folder / HISTORY, f"it ends at step {last}, but {SUMMARY} says step {summary.steps}")
    return summary
