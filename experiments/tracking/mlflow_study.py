"""A study's trials as runs in MLflow: what they are called, what they carry, which values they have been sent."""

import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mlflow import MlflowClient

from analysis.record.config_file import read_config
from analysis.record.files import DamagedFile, read_csv_rows
from analysis.record.history import read_history
from analysis.record.layout import ARTIFACTS, EFFECTS, PAGE, results_of, trial_folder
from analysis.record.study_file import ArmRecord, TrialRecord, read_study
from analysis.record.summary import COMPLETE, read_summary
from experiments.lifecycle.state import trial_state
from experiments.tracking.export import history_points, mlflow_name, run_parameters, step_stride

METRICS_PER_BATCH, PARAMETERS_PER_BATCH = 1000, 100  # metrics and parameters that MLflow takes at once


RUN_STATUS = {
    "finished": "FINISHED", "diverged": "FINISHED", "running": "RUNNING", "stopped": "KILLED", "failed": "FAILED",
    "damaged": "FAILED",
}  # fmt: skip


@dataclass
class TrialRun:
    """A trial's run in MLflow: what it is called and carries, and what MLflow was told of it."""

    key: str
    tags: dict[str, str]
    folder: Path
    run: str = ""
    step: int = -1
    state: str = ""
    stamp: int = 0


@dataclass
class MlflowStudy:
    """A study as MLflow shows it: an experiment, a parent run, a child run for each trial that has begun."""

    client: "MlflowClient"
    home: Path
    experiment: str
    parent: str
    children: list[TrialRun]
    warned: set[str] = field(default_factory=set)

    @classmethod
    def of(cls, home: Path, uri: str) -> "MlflowStudy":
        """Find or make the study's experiment and its parent run; a study that is run again continues its runs.

        An experiment that was deleted is restored.
        """
        from mlflow import MlflowClient

        study = read_study(home)
        client = MlflowClient(tracking_uri=uri)
        experiment = _find_or_create_experiment(client, study.name, (results_of(home) / ARTIFACTS).absolute().as_uri())
        known = {run.data.tags.get("knockout.key", ""): run for run in search_runs(client, experiment)}
        if "study" not in known:
            tags = {"knockout.key": "study", "study": study.name, "mlflow.note.content": study.question}
            known["study"] = client.create_run(experiment, run_name=study.name, tags=tags)
        parent = known["study"].info.run_id
        if known["study"].info.status != "RUNNING":
            client.update_run(parent, status="RUNNING")
        marks = {label: _arm_marks(arm) for label, arm in study.arms.items()}
        children = [_trial_run(home, study.name, parent, trial, marks[trial.arm]) for trial in study.trials]
        for child in (child for child in children if child.key in known):
            tags = known[child.key].data.tags
            child.run, child.step = known[child.key].info.run_id, int(tags.get("knockout.step", -1))
            child.state = tags.get("status", "")
        return cls(client, home, experiment, parent, children)

    def update(self) -> None:
        """Send what the histories have that MLflow has not, and what has become of each trial."""
        for child in self.children:
            now = trial_state(child.folder)
            if now == "left" or (now == child.state and now in COMPLETE):
                continue
            try:
                if not child.run:
                    self._create_run(child)
                if now != "damaged":
                    self._send_history(child)
            except DamagedFile as damage:
                self._warn_once(str(damage))
                continue
            if now != child.state:
                self._set_state(child, now)

    def _warn_once(self, damage: str) -> None:
        if damage not in self.warned:
            self.warned.add(damage)
            print(f"warning: MLflow is not sent all of this: {damage}", file=sys.stderr)

    def _create_run(self, child: TrialRun) -> None:
        name = f"{child.tags['arm']} · seed {child.tags['seed']}"
        tags = child.tags | {"knockout.key": child.key}
        child.run = self.client.create_run(self.experiment, run_name=name, tags=tags).info.run_id
        given = list(run_parameters(child.folder))
        for start in range(0, len(given), PARAMETERS_PER_BATCH):
            self.client.log_batch(child.run, params=given[start : start + PARAMETERS_PER_BATCH])

    def _send_history(self, child: TrialRun) -> None:
        """Points after the last step that was sent; their stamp stays until all have arrived, so none comes twice."""
        from mlflow.entities import Metric

        history = read_history(child.folder)
        last = -1 if history is None else history["step"][-1].as_py()
        if history is None or last <= child.step:
            return
        child.stamp = child.stamp or int(time.time() * 1000)
        sent = [
            Metric(mlflow_name(name), value, child.stamp, step)
            for name, value, step in history_points(history, child.step, step_stride(child.folder))
        ]
        for start in range(0, len(sent), METRICS_PER_BATCH):
            self.client.log_batch(child.run, metrics=sent[start : start + METRICS_PER_BATCH])
        self.client.set_tag(child.run, "knockout.step", str(last))
        child.step, child.stamp = last, 0

    def _set_state(self, child: TrialRun, now: str) -> None:
        """What has become of a trial; a finite number says whether it diverged, as NaN sorts nowhere."""
        summary = read_summary(child.folder)
        if summary is not None:
            self.client.log_metric(child.run, "diverged", float(now == "diverged"), step=summary.steps)
        if now == "diverged" and summary is not None:
            self.client.set_tag(child.run, "diverged_step", str(summary.diverged_step))
        self.client.set_tag(child.run, "status", now)
        if RUN_STATUS[now] == "RUNNING":
            self.client.update_run(child.run, status="RUNNING")
        else:
            self.client.set_terminated(child.run, RUN_STATUS[now])
        child.state = now

    def conclude(self, *, whole: bool) -> None:
        """A whole study's parent gets effects, verdicts and report; its state is that of its trials."""
        if whole:
            self._log_effects()
        states = {trial_state(child.folder) for child in self.children}
        running, failed = "running" in states, not states <= {*COMPLETE}
        self.client.update_run(self.parent, status="RUNNING") if running else self.client.set_terminated(
            self.parent, "FINISHED" if not failed else "FAILED" if whole else "KILLED"
        )

    def _log_effects(self) -> None:
        rows = read_csv_rows(self.home / EFFECTS)
        logged = self.client.get_run(self.parent).data.metrics
        for row in (row for row in rows if row["effect"]):
            name, value = mlflow_name(f"effect/{row['arm']}/{row['endpoint']}"), float(row["effect"])
            if logged.get(name) != value:
                self.client.log_metric(self.parent, name, value)
        study = read_study(self.home)
        note = "\n\n".join([study.question, *(row["sentence"] for row in rows)])
        self.client.set_tag(self.parent, "mlflow.note.content", note)
        self.client.log_artifact(self.parent, str(self.home / PAGE))


def _find_or_create_experiment(client: "MlflowClient", name: str, artifacts: str) -> str:
    found = client.get_experiment_by_name(name)
    if found is None:
        return client.create_experiment(name, artifact_location=artifacts)
    if found.lifecycle_stage == "deleted":
        client.restore_experiment(found.experiment_id)
    return found.experiment_id


def _arm_marks(arm: ArmRecord) -> dict[str, str]:
    """Tags of an arm whose model reads what it should not; none of all others."""
    marks = {"sees_future": arm.sees_future, "reads_across_batch": arm.reads_across_batch}
    return {mark: "true" for mark, holds in marks.items() if holds}


def _trial_run(home: Path, study: str, parent: str, trial: TrialRecord, marks: Mapping[str, str]) -> TrialRun:
    """A trial's run: one that another study asked for first says so."""
    folder = trial_folder(results_of(home), trial.id)
    tags = {"mlflow.parentRunId": parent, "study": study, "arm": trial.arm, "seed": str(trial.seed)}
    try:
        config = read_config(folder)
    except (FileNotFoundError, DamagedFile):
        config = {}
    first = config.get("asked_by", study)
    tags |= {"trial": trial.id, **marks} | ({"reused_from": first} if first != study else {})
    return TrialRun(f"{trial.arm} · seed {trial.seed} {trial.id}", tags, folder)


def search_runs(client: "MlflowClient", experiment: str) -> Iterator[Any]:
    """All runs of an experiment, over as many pages as MLflow makes of them."""
    page = client.search_runs([experiment], max_results=1000)
    yield from page
    while page.token:
        page = client.search_runs([experiment], max_results=1000, page_token=page.token)
        yield from page
