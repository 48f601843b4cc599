"""A study's trials as runs in MLflow: what they are called, what they carry, which values they have been sent."""

import csv
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import yaml

from analysis.settings import settings
from experiments.folder import CONFIG, STUDY, finished
from experiments.recorder import read

if TYPE_CHECKING:
    from mlflow import MlflowClient

POINTS = 200  # of a curve that MLflow is shown; the record keeps all
BATCH = 1000  # metrics that MLflow takes at once


@dataclass
class Child:
    """A trial's run in MLflow, and the last step it has been sent."""

    run: str
    folder: Path
    step: int
    ended: bool = False


@dataclass
class Shown:
    """A study as MLflow shows it: an experiment, a parent run, a child run for each arm and seed."""

    client: "MlflowClient"
    home: Path
    parent: str
    children: list[Child] = field(default_factory=list)

    @classmethod
    def of(cls, home: Path, uri: str) -> "Shown":
        """Find or make the study's experiment and runs; a study that is run again continues its runs."""
        from mlflow import MlflowClient

        study = yaml.safe_load((home / STUDY).read_text(encoding="utf-8"))
        client = MlflowClient(tracking_uri=uri)
        found = client.get_experiment_by_name(study["name"])
        artifacts = (home.parents[1] / "mlartifacts").absolute().as_uri()
        experiment = (
            found.experiment_id if found else client.create_experiment(study["name"], artifact_location=artifacts)
        )
        known = {run.data.tags.get("knockout.key", ""): run for run in _runs(client, experiment)}

        def run(key: str, name: str, tags: dict[str, Any]) -> tuple[str, int]:
            made = known.get(key) or client.create_run(experiment, run_name=name, tags={"knockout.key": key, **tags})
            return made.info.run_id, int(made.data.tags.get("knockout.step", -1))

        parent, _ = run("study", study["name"], {"study": study["name"], "mlflow.note.content": study["question"]})
        shown = cls(client, home, parent)
        for row in study["trials"]:
            name = f"{row['arm']} · seed {row['seed']}"
            tags = {
                "mlflow.parentRunId": parent,
                "study": study["name"],
                "arm": row["arm"],
                "seed": str(row["seed"]),
                "trial": row["id"],
            }
            made, step = run(f"{name} {row['id']}", name, tags)
            child = Child(made, home.parents[1] / "trials" / row["id"], step)
            shown.children.append(child)
            if name + " " + row["id"] not in known:
                client.log_batch(made, params=list(_parameters(child.folder)))
        return shown

    def update(self) -> None:
        """Send every child what its history has that MLflow has not, and its end."""
        from mlflow.entities import Metric

        for child in self.children:
            history = None if child.ended else read(child.folder)
            if history is not None:
                now = int(time.time() * 1000)
                points = [
                    Metric(legal(name), value, now, step)
                    for name, value, step in _points(history, child.step, _stride(child.folder))
                ]
                for start in range(0, len(points), BATCH):
                    self.client.log_batch(child.run, metrics=points[start : start + BATCH])
                last = history["step"][-1].as_py()
                if last > child.step:
                    child.step = last
                    self.client.set_tag(child.run, "knockout.step", str(last))
            if not child.ended and (summary := finished(child.folder)) is not None:
                self.client.set_tag(child.run, "status", summary["status"])
                self.client.set_terminated(child.run, "FINISHED")
                child.ended = True

    def conclude(self, *, whole: bool) -> None:
        """Trials that did not finish are marked; a whole study's parent gets effects, verdicts and report."""
        ended = "FAILED" if whole else "KILLED"
        for child in self.children:
            if not child.ended:
                self.client.set_tag(child.run, "status", ended.lower())
                self.client.set_terminated(child.run, ended)
        if whole:
            self._show_effects()
        self.client.set_terminated(self.parent, "FINISHED" if whole else "KILLED")

    def _show_effects(self) -> None:
        with (self.home / "effects.csv").open(encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        logged = self.client.get_run(self.parent).data.metrics
        for row in rows:
            name, value = legal(f"effect/{row['arm']}/{row['endpoint']}"), float(row["effect"] or "nan")
            if logged.get(name) != value:
                self.client.log_metric(self.parent, name, value)
        study = yaml.safe_load((self.home / STUDY).read_text(encoding="utf-8"))
        note = "\n\n".join([study["question"], *(row["sentence"] for row in rows)])
        self.client.set_tag(self.parent, "mlflow.note.content", note)
        self.client.log_artifact(self.parent, str(self.home / "report.html"))


def legal(name: str) -> str:
    """A metric's name in the characters that MLflow takes, different for different names.

    >>> legal("val/loss"), legal("effect/norm=rmsnorm/val/loss")
    ('val/loss', 'effect/norm:3d:rmsnorm/val/loss')
    """
    return re.sub(r"[^\w.\- /]", lambda found: f":{ord(found.group()):x}:", name, flags=re.ASCII)


def _runs(client: "MlflowClient", experiment: str) -> Iterator[Any]:
    page = client.search_runs([experiment], max_results=1000)
    yield from page
    while page.token:
        page = client.search_runs([experiment], max_results=1000, page_token=page.token)
        yield from page


def _parameters(folder: Path) -> Iterator[Any]:
    from mlflow.entities import Param

    config = yaml.safe_load((folder / CONFIG).read_text(encoding="utf-8"))
    for key, value in settings({key: value for key, value in config.items() if key not in ("label", "git")}).items():
        yield Param(legal(key), str(value))


def _stride(folder: Path) -> int:
    """Every how many steps a value is sent, for about `POINTS` points of a curve."""
    config = yaml.safe_load((folder / CONFIG).read_text(encoding="utf-8"))
    return max(1, config["trainer"]["max_steps"] // POINTS)


def _points(history: pa.Table, after: int, stride: int) -> Iterator[tuple[str, float, int]]:
    """Values of later steps: every `stride`-th step of what is measured at each, all of what is measured seldom."""
    steps = history["step"].to_pylist()
    for name in history.column_names[2:]:
        values = history[name].to_pylist()
        seldom = sum(value is not None for value in values) < len(values) / 2
        yield from (
            (name, v, s)
            for v, s in zip(values, steps, strict=True)
            if v is not None and s > after and (seldom or s % stride == 0)
        )
