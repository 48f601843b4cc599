"""Are a study's numbers those that its code gives? `knockout verify STUDY` trains some of its trials again."""

import math
import random
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from analysis.record.config_file import read_config
from analysis.record.files import DamagedFile
from analysis.record.history import declared_measures, read_history
from analysis.record.layout import CONFIG, results_around, trial_folder
from analysis.record.study_file import find_study, read_study
from analysis.record.summary import read_summary, trial_damage
from experiments.commands.arguments import command_parser
from experiments.lifecycle.environment import versions
from experiments.lifecycle.terminal import echo
from experiments.settings import plugins

VERIFY_RUNTIME: Mapping[str, Any] = {
    "slots": None, "trials_per_device": 1, "retries": 0, "stop_after": None, "timeout_minutes": None,
    "elsewhere": "wait",
}  # fmt: skip


TOLERANCE = 1e-3  # relative, on devices whose sums are not always taken in the same order


@dataclass(frozen=True)
class HistoryDifference:
    """The first value of a history that is not the same again."""

    measure: str
    step: int
    before: float | None
    again: float | None

    def __str__(self) -> str:
        return f"{self.measure} at step {self.step}: {self.before!r}, again {self.again!r}"


def verify(words: list[str]) -> None:
    """Raises ValueError if a trial is not the same again, SystemExit if one could not be trained again."""
    parser = command_parser("verify", "Train some trials of a study again and compare.")
    parser.add_argument("study", help="its name")
    parser.add_argument("--trials", type=int, default=2, help="how many, drawn at random (default: 2)")
    parser.add_argument("--seed", type=int, default=0, help="of the draw (default: 0)")
    given = parser.parse_args(words)
    study = read_study(find_study(given.results, given.study))
    folders = {trial.id: trial_folder(given.results, trial.id) for trial in study.trials}
    damages = [damage for folder in folders.values() if (damage := trial_damage(folder))]
    echo("\n".join(damages))
    ended = sorted(id for id, folder in folders.items() if read_summary(folder))
    if not ended or given.trials < 1:
        raise ValueError(f"{given.study} has {len(ended)} finished trials, of which {given.trials} cannot be verified")
    chosen = sorted(random.Random(given.seed).sample(ended, min(given.trials, len(ended))))
    echo(f"{len(chosen)} of {len(ended)} finished trials are trained again")
    wrong = [id for id in chosen if not _verify_trial(trial_folder(given.results, id))]
    if wrong:
        raise ValueError(f"not the same again: {', '.join(wrong)}")
    if damages:
        raise ValueError(f"{len(damages)} trials have a damaged record")


def _verify_trial(folder: Path) -> bool:
    """Train a trial again elsewhere, and say how it compares."""
    from experiments.launch.queue import run_trials

    try:
        config = read_config(folder)
    except DamagedFile as damage:
        print(damage)
        return False
    with tempfile.TemporaryDirectory(prefix="knockout-") as root:
        again = trial_folder(root, folder.name)
        again.mkdir(parents=True)
        shutil.copy(folder / CONFIG, again / CONFIG)
        plugins.refuse_plugins_inside(results_around(folder.resolve()), config["plugins"])
        try:
            plugins.load_recorded_plugins(config["plugins"])
        except RuntimeError as error:
            echo(f"{folder.name}: could not be trained again: {error}")
            return False
        run_trials([again], VERIFY_RUNTIME)
        if read_summary(again) is None:
            echo(f"{folder.name}: could not be trained again{_changes_text(changes_since_training(folder, config))}")
            return False
        exact = config["trainer"]["accelerator"] == "cpu"
        difference = first_difference(folder, again, 0.0 if exact else TOLERANCE)
    if difference is None:
        echo(f"{folder.name}: the same {'bits' if exact else f'to {TOLERANCE:g}'}")
        return True
    echo(f"{folder.name}: {difference}{_changes_text(changes_since_training(folder, config))}")
    return False


def first_difference(before: Path, again: Path, tolerance: float) -> HistoryDifference | None:
    """Where two histories part; measures that only repeat roughly do not count, and with a tolerance only losses do."""
    first, second = read_history(before), read_history(again)
    assert first is not None and second is not None
    own = [field.name for field in first.schema if (field.metadata or {}).get(b"repeats", b"exactly") == b"exactly"]
    for name in [name for name in own if name.endswith("/loss")] if tolerance else own:
        others = (
            second[name] if name in second.column_names else pa.chunked_array([pa.nulls(len(second), pa.float64())])
        )
        for step, value, other in zip(
            first["step"].to_pylist(), first[name].to_pylist(), others.to_pylist(), strict=False
        ):
            if not _same_value(value, other, tolerance):
                return HistoryDifference(name, step, value, other)
    return (
        None
        if len(first) == len(second)
        else HistoryDifference("rows", min(len(first), len(second)), len(first), len(second))
    )


def _same_value(value: float | None, other: float | None, tolerance: float) -> bool:
    if value is None or other is None:
        return value is other
    if math.isnan(value) or math.isnan(other):
        return math.isnan(value) and math.isnan(other)
    return value == other or abs(value - other) <= tolerance * abs(value)


def changes_since_training(folder: Path, config: Mapping[str, Any]) -> list[str]:
    """What has changed since a trial was trained: code, that of its measures, data, packages."""
    from experiments.study.arm import inspect_model
    from experiments.trial import build

    summary = read_summary(folder)
    assert summary is not None
    data = build.build_data(config)
    facts = inspect_model(dict(config), data)
    pairs = {
        "code": (summary.code, facts.code),
        "data": (summary.data.content, data.content),
    }
    measured = declared_measures(folder)
    pairs |= {f"code of {m}": (measured[m].get("code"), c) for m, c in facts.measure_code.items() if m in measured}
    now = versions()
    pairs |= {name: (version, now.get(name)) for name, version in summary.versions.items()}
    return [f"{name} {before} → {after}" for name, (before, after) in pairs.items() if before != after]


def _changes_text(changed: list[str]) -> str:
    return (
        f" (changed since: {'; '.join(changed)})" if changed else " (code, data and packages are the same: the machine)"
    )
