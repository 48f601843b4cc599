"""Are a study's numbers those that its code gives? `knockout verify STUDY` trains some of its trials again."""

import argparse
import math
import random
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import yaml

from analysis.results import found, read_study
from experiments import plugins
from experiments.folder import CONFIG, finished
from experiments.provenance import versions
from experiments.recorder import read

RUNTIME: Mapping[str, Any] = {
    "slots": None, "trials_per_device": 1, "retries": 0, "stop_after": None, "timeout_minutes": None,
    "elsewhere": "wait",
}  # fmt: skip
TOLERANCE = 1e-3  # relative, on devices whose sums are not always taken in the same order


@dataclass(frozen=True)
class Difference:
    """The first value of a history that is not the same again."""

    measure: str
    step: int
    before: float | None
    again: float | None

    def __str__(self) -> str:
        return f"{self.measure} at step {self.step}: {self.before!r}, again {self.again!r}"


def main(words: list[str]) -> None:
    """Raises ValueError if a trial is not the same again, SystemExit if one could not be trained again."""
    parser = argparse.ArgumentParser("knockout verify", description="Train some trials of a study again and compare.")
    parser.add_argument("study", help="its name")
    parser.add_argument("--trials", type=int, default=2, help="how many, drawn at random (default: 2)")
    parser.add_argument("--seed", type=int, default=0, help="of the draw (default: 0)")
    parser.add_argument("--results", default="results", type=Path, help="the results folder (default: results)")
    given = parser.parse_args(words)
    study = read_study(found(given.results, given.study))
    ended = sorted({row["id"] for row in study["trials"] if finished(given.results / "trials" / row["id"])})
    if not ended or given.trials < 1:
        raise ValueError(f"{given.study} has {len(ended)} finished trials, of which {given.trials} cannot be verified")
    chosen = sorted(random.Random(given.seed).sample(ended, min(given.trials, len(ended))))
    print(f"{len(chosen)} of {len(ended)} finished trials are trained again", flush=True)
    wrong = [id for id in chosen if not _verified(given.results / "trials" / id)]
    if wrong:
        raise ValueError(f"not the same again: {', '.join(wrong)}")


def _verified(folder: Path) -> bool:
    """Train a trial again elsewhere, and say how it compares."""
    from experiments.launch import run

    with tempfile.TemporaryDirectory(prefix="knockout-") as root:
        again = Path(root) / "trials" / folder.name
        again.mkdir(parents=True)
        shutil.copy(folder / CONFIG, again / CONFIG)
        config = yaml.safe_load((folder / CONFIG).read_text(encoding="utf-8"))
        plugins.load(config["plugins"])
        run([again], RUNTIME)
        if finished(again) is None:
            print(f"{folder.name}: could not be trained again{_told(changes(folder, config))}")
            return False
        exact = config["trainer"]["accelerator"] == "cpu"
        difference = first_difference(folder, again, 0.0 if exact else TOLERANCE)
    if difference is None:
        print(f"{folder.name}: the same {'bits' if exact else f'to {TOLERANCE:g}'}")
        return True
    print(f"{folder.name}: {difference}{_told(changes(folder, config))}")
    return False


def first_difference(before: Path, again: Path, tolerance: float) -> Difference | None:
    """Where two histories part; measures that only repeat roughly do not count, and with a tolerance only losses do."""
    first, second = read(before), read(again)
    assert first is not None and second is not None
    own = [field.name for field in first.schema if (field.metadata or {}).get(b"repeats", b"exactly") == b"exactly"]
    for name in [name for name in own if name.endswith("/loss")] if tolerance else own:
        others = (
            second[name] if name in second.column_names else pa.chunked_array([pa.nulls(len(second), pa.float64())])
        )
        for step, value, other in zip(
            first["step"].to_pylist(), first[name].to_pylist(), others.to_pylist(), strict=False
        ):
            if not _alike(value, other, tolerance):
                return Difference(name, step, value, other)
    return (
        None if len(first) == len(second) else Difference("rows", min(len(first), len(second)), len(first), len(second))
    )


def _alike(value: float | None, other: float | None, tolerance: float) -> bool:
    if value is None or other is None:
        return value is other
    if math.isnan(value) or math.isnan(other):
        return math.isnan(value) and math.isnan(other)
    return value == other or abs(value - other) <= tolerance * abs(value)


def changes(folder: Path, config: Mapping[str, Any]) -> list[str]:
    """What has changed since a trial was trained: code, data, packages."""
    from experiments import build
    from experiments.identity import examined

    said = finished(folder)
    assert said is not None
    data = build.data(config)
    pairs = {"code": (said["code"], examined(dict(config), data).code), "data": (said["data"]["content"], data.content)}
    now = versions()
    pairs |= {name: (version, now.get(name)) for name, version in said["versions"].items()}
    return [f"{name} {before} → {after}" for name, (before, after) in pairs.items() if before != after]


def _told(changed: list[str]) -> str:
    return (
        f" (changed since: {'; '.join(changed)})" if changed else " (code, data and packages are the same: the machine)"
    )
