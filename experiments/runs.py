"""A study's trials as runs in MLflow: what they are called, what they carry, which values they have been sent."""

import csv
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from experiments.folder import CONFIG, STUDY, finished
from experiments.recorder import read
from experiments.sent import legal, parameters, points, stride
from experiments.state import DONE, state

if TYPE_CHECKING:
    from mlflow import MlflowClient

BATCH, PARAMETERS = 1000, 100  # metrics and parameters that MLflow takes at once
STATUS = {
    "finished": "FINISHED", "diverged": "FINISHED", "running": "RUNNING", "stopped": "KILLED", "failed": "FAILED",
}  # fmt: skip


@dataclass
class Child:
    """A trial's run in MLflow: what it is called and carries, and what MLflow was told of it."""

    key: str
    tags: dict[str, str]
    folder: Path
    run: str = ""
    step: int = -1
    state: str = ""
    stamp: int = 0


@dataclass
class Shown:
    """A study as MLflow shows it: an experiment, a parent run, a child run for each trial that has begun."""

    client: "MlflowClient"
    home: Path
    experiment: str
    parent: str
    children: list[Child]

    @classmethod
    def of(cls, home: Path, uri: str) -> "Shown":
        """Find or make the study's experiment and its parent run; a study that is run again continues its runs.

        An experiment that was deleted is restored.
        """
        from mlflow import MlflowClient

        study = yaml.safe_load((home / STUDY).read_text(encoding="utf-8"))
        client = MlflowClient(tracking_uri=uri)
        experiment = _experiment(client, study["name"], (home.parents[1] / "mlartifacts").absolute().as_uri())
        known = {run.data.tags.get("knockout.key", ""): run for run in _runs(client, experiment)}
        if "study" not in known:
            tags = {"knockout.key": "study", "study": study["name"], "mlflow.note.content": study["question"]}
            known["study"] = client.create_run(experiment, run_name=study["name"], tags=tags)
        parent = known["study"].info.run_id
        if known["study"].info.status != "RUNNING":
            client.update_run(parent, status="RUNNING")
        children = [_child(home, study["name"], parent, row) for row in study["trials"]]
        for child in (child for child in children if child.key in known):
            tags = known[child.key].data.tags
            child.run, child.step = known[child.key].info.run_id, int(tags.get("knockout.step", -1))
            child.state = tags.get("status", "")
        return cls(client, home, experiment, parent, children)

    def update(self) -> None:
        """Send what the histories have that MLflow has not, and what has become of each trial."""
        for child in self.children:
            now = state(child.folder)
            if now == "left" or (now == child.state and now in DONE):
                continue
            if not child.run:
                self._begin(child)
            self._send(child)
            if now != child.state:
                self._mark(child, now)

    def _begin(self, child: Child) -> None:
        name = f"{child.tags['arm']} · seed {child.tags['seed']}"
        tags = child.tags | {"knockout.key": child.key}
        child.run = self.client.create_run(self.experiment, run_name=name, tags=tags).info.run_id
        given = list(parameters(child.folder))
        for start in range(0, len(given), PARAMETERS):
            self.client.log_batch(child.run, params=given[start : start + PARAMETERS])

    def _send(self, child: Child) -> None:
        """Points after the last step that was sent; their stamp stays until all have arrived, so none comes twice."""
        from mlflow.entities import Metric

        history = read(child.folder)
        last = -1 if history is None else history["step"][-1].as_py()
        if history is None or last <= child.step:
            return
        child.stamp = child.stamp or int(time.time() * 1000)
        sent = [
            Metric(legal(name), value, child.stamp, step)
            for name, value, step in points(history, child.step, stride(child.folder))
        ]
        for start in range(0, len(sent), BATCH):
            self.client.log_batch(child.run, metrics=sent[start : start + BATCH])
        self.client.set_tag(child.run, "knockout.step", str(last))
        child.step, child.stamp = last, 0

    def _mark(self, child: Child, now: str) -> None:
        """What has become of a trial; a finite number says whether it diverged, as NaN sorts nowhere."""
        summary = finished(child.folder)
        if summary is not None:
            self.client.log_metric(child.run, "diverged", float(now == "diverged"), step=summary["steps"])
        if now == "diverged" and summary is not None:
            self.client.set_tag(child.run, "diverged_step", str(summary["diverged_step"]))
        self.client.set_tag(child.run, "status", now)
        if STATUS[now] == "RUNNING":
            self.client.update_run(child.run, status="RUNNING")
        else:
            self.client.set_terminated(child.run, STATUS[now])
        child.state = now

    def conclude(self, *, whole: bool) -> None:
        """A whole study's parent gets effects, verdicts and report; its state is that of its trials."""
        if whole:
            self._show_effects()
        states = {state(child.folder) for child in self.children}
        running, failed = "running" in states, not states <= {*DONE}
        self.client.update_run(self.parent, status="RUNNING") if running else self.client.set_terminated(
            self.parent, "FINISHED" if not failed else "FAILED" if whole else "KILLED"
        )

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


def _experiment(client: "MlflowClient", name: str, artifacts: str) -> str:
    found = client.get_experiment_by_name(name)
    if found is None:
        return client.create_experiment(name, artifact_location=artifacts)
    if found.lifecycle_stage == "deleted":
        client.restore_experiment(found.experiment_id)
    return found.experiment_id


def _child(home: Path, study: str, parent: str, row: Mapping[str, Any]) -> Child:
    """A trial's run: one that another study asked for first says so."""
    folder = home.parents[1] / "trials" / row["id"]
    tags = {"mlflow.parentRunId": parent, "study": study, "arm": row["arm"], "seed": str(row["seed"])}
    config = yaml.safe_load((folder / CONFIG).read_text(encoding="utf-8")) if (folder / CONFIG).exists() else {}
    first = config.get("asked_by", study)
    tags |= {"trial": row["id"]} | ({"reused_from": first} if first != study else {})
    return Child(f"{row['arm']} · seed {row['seed']} {row['id']}", tags, folder)


def _runs(client: "MlflowClient", experiment: str) -> Iterator[Any]:
    page = client.search_runs([experiment], max_results=1000)
    yield from page
    while page.token:
        page = client.search_runs([experiment], max_results=1000, page_token=page.token)
        yield from page
