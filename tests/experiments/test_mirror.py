"""MLflow is told what is so, whatever state it is in."""

import sqlite3
import threading
from pathlib import Path

import pytest
from mlflow import MlflowClient

from experiments.mirror import refuse_folder, store_of
from experiments.sent import CUT, LONGEST, legal
from tests.conftest import QUICK, called, runs

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning"),  # MLflow's own
]
WORDS = ("norm=layernorm,rmsnorm", *QUICK)


@pytest.fixture(scope="module")
def mirrored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("mirrored")
    ran = called(folder, "run", *WORDS, "study.name=shown", "optimizer.lr=1e30,3e-3", "trainer.gradient_clip_val=null")
    assert ran.returncode == 0, ran.stderr
    return folder


def client(folder: Path) -> MlflowClient:
    return MlflowClient(tracking_uri=store_of(folder / "results"))


def test_b10_a_diverged_trial_is_told_by_a_finite_number_and_its_step(mirrored: Path) -> None:
    found = {run["name"]: run for run in runs(mirrored) if "arm" in run}
    base = sqlite3.connect(mirrored / "results" / "mlflow.db")
    flags = dict(base.execute("select run_uuid, value from latest_metrics where key='diverged'").fetchall())
    for name, run in found.items():
        diverged = "lr=0.003" not in name
        assert run["status"] == ("diverged" if diverged else "finished")
        assert flags[run["id"]] == float(diverged)
        assert ("diverged_step" in run) == diverged


def test_b9_no_diverged_run_is_ever_best(mirrored: Path) -> None:
    experiment = client(mirrored).get_experiment_by_name("shown")
    assert experiment is not None
    best = client(mirrored).search_runs(
        [experiment.experiment_id], "metrics.`val/loss` < 1000 and metrics.diverged < 1"
    )
    assert len(best) == 2


def test_b32_all_settings_are_there_under_their_names(mirrored: Path) -> None:
    run = client(mirrored).get_run(next(run["id"] for run in runs(mirrored) if "arm" in run))
    assert run.data.params["optimizer.weight_decay"] == "0.1"
    assert run.data.params["model.width"] == "16"
    assert len(run.data.params) > 40


def test_b24_the_step_axis_is_that_of_optimizer_steps(mirrored: Path) -> None:
    run = next(run for run in runs(mirrored) if "lr=0.003" in run["name"])
    history = client(mirrored).get_metric_history(run["id"], "val/loss")
    assert [point.step for point in history] == [0, 3, 6]


def test_e12_a_trial_of_another_study_says_whose_it_was(mirrored: Path) -> None:
    words = ("study.name=again", "optimizer.lr=3e-3", "trainer.gradient_clip_val=null")
    ran = called(mirrored, "run", *WORDS, *words)
    assert "2 finished, 0 to train" in ran.stdout
    reused = [run for run in runs(mirrored) if run.get("study") == "again" and "arm" in run]
    assert [run["reused_from"] for run in reused] == ["shown", "shown"]


def test_b16_a_deleted_experiment_is_restored(mirrored: Path) -> None:
    experiment = client(mirrored).get_experiment_by_name("shown")
    assert experiment is not None
    client(mirrored).delete_experiment(experiment.experiment_id)
    assert called(mirrored, "sync", "shown").returncode == 0
    again = client(mirrored).get_experiment_by_name("shown")
    assert again is not None and again.lifecycle_stage == "active"


def test_b2_a_locked_database_is_waited_for(mirrored: Path, capfd: pytest.CaptureFixture[str]) -> None:
    lock = sqlite3.connect(mirrored / "results" / "mlflow.db", check_same_thread=False, isolation_level=None)
    lock.execute("begin exclusive")
    freed = threading.Timer(8, lambda: lock.execute("rollback"))
    freed.start()
    ran = called(mirrored, "run", *WORDS, "study.name=locked", "model.depth=1")
    freed.join()
    lock.close()
    assert ran.returncode == 0
    states = [run["state"] for run in runs(mirrored) if run.get("study") == "locked"]
    assert states == ["FINISHED"] * 3


def test_b13_dead_runs_are_corrected(mirrored: Path) -> None:
    run = next(run["id"] for run in runs(mirrored) if run.get("study") == "shown" and "arm" in run)
    client(mirrored).update_run(run, status="RUNNING")
    client(mirrored).set_tag(run, "status", "running")
    assert called(mirrored, "sync", "shown").returncode == 0
    assert {each["state"] for each in runs(mirrored) if each["id"] == run} == {"FINISHED"}


@pytest.mark.parametrize("uri", ["./mlruns", "mlruns", "file:///tmp/mlruns"])
def test_b3_a_folder_of_files_is_refused_with_what_to_type(uri: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"is a folder, and MLflow writes none any more; .*sqlite:"):
        refuse_folder(uri)
    ran = called(tmp_path, "run", *WORDS, f"runtime.tracking_uri={uri}")
    assert ran.returncode == 1 and "is a folder" in ran.stderr


@pytest.mark.parametrize(
    ("one", "other"), [("a@b", "a_b"), ("grad_norm[0]", "grad_norm(0)"), ("..", "."), ("x" * 300, "x" * 301)]
)
def test_b19_odd_names_become_legal_and_stay_apart(one: str, other: str) -> None:
    assert legal(one) != legal(other)
    assert all(len(legal(name)) <= LONGEST and ".." not in legal(name).split("/") for name in (one, other))
    assert CUT <= 6000


def test_b26_nothing_is_sent_twice(mirrored: Path) -> None:
    run = next(run for run in runs(mirrored) if "lr=0.003" in run["name"])
    before = client(mirrored).get_metric_history(run["id"], "train/loss")
    called(mirrored, "sync", "shown")
    assert client(mirrored).get_metric_history(run["id"], "train/loss") == before
