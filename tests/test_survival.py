"""A sweep that everything happens to ends as one that nothing happened to."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
import yaml

from experiments.folder import finished
from tests.conftest import QUICK, ROOT, runs, typed
from tests.test_processes import awaited, steps, workers

FAULTY = f"plugins=[{ROOT / 'tests' / 'faulty.py'}]"
SWEEP = (
    FAULTY, "norm=layernorm,slow,raises,blows_up", "seed=range(4)", *QUICK[1:], "trainer.max_steps=24",
    "runtime.smoke=0",
)  # fmt: skip


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[[], "subprocess.Popen[Any]"]]:
    """Begin the sweep and go on."""
    begun: list[subprocess.Popen[Any]] = []

    def started() -> "subprocess.Popen[Any]":
        line = [sys.executable, "-m", "experiments.cli", "run", *SWEEP]
        silent: Any = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        begun.append(subprocess.Popen(line, cwd=tmp_path, start_new_session=True, **silent))
        return begun[-1]

    yield started
    for process in begun:
        process.kill()
        process.wait()


def histories(folder: Path) -> dict[str, bytes]:
    """The history of each complete trial, by its id."""
    trials = [trial for trial in (folder / "results" / "trials").iterdir() if finished(trial) is not None]
    return {trial.name: (trial / "history.parquet").read_bytes() for trial in trials}


def turn(trial: Path) -> tuple[bool, int]:
    """When a trial is to be trained: seed by seed; last, those that fail or diverge anyway."""
    arm, _, seed = yaml.safe_load((trial / "config.yaml").read_text())["label"].partition(" · seed ")
    return arm in ("norm=raises", "norm=blows_up"), int(seed)


def shown(folder: Path) -> list[Any]:
    """MLflow's runs, none while its database is being made."""
    try:
        return runs(folder)
    except sqlite3.OperationalError:
        return []


def test_a_sweep_survives_kills_interrupts_a_full_disk_a_locked_database_an_error_and_a_nan(
    start: Callable[[], "subprocess.Popen[Any]"], tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    trials = tmp_path / "results" / "trials"
    family: list[psutil.Process] = []

    first = start()  # two workers are killed, the database is locked all the while, the disk is full for one trial
    awaited(lambda: len(shown(tmp_path)) > 1)
    lock = sqlite3.connect(tmp_path / "results" / "mlflow.db", timeout=30, isolation_level=None)
    lock.execute("begin exclusive")
    for _ in range(2):
        awaited(lambda: workers(first.pid))[0].kill()
    waiting = awaited(lambda: [trial for trial in trials.iterdir() if not any(trial.glob("trial.log"))])
    full = sorted(waiting, key=turn)[1] / "history.parquet.part"
    full.symlink_to("/dev/full")
    awaited(lambda: not full.is_symlink() and len(histories(tmp_path)) >= 3)
    family += psutil.Process(first.pid).children(recursive=True)
    first.kill()  # the parent
    lock.execute("rollback")
    lock.close()
    first.wait()
    assert not psutil.wait_procs(family, timeout=60)[1]

    second = start()  # interrupted twice
    awaited(lambda: len(histories(tmp_path)) >= 6)
    family += psutil.Process(second.pid).children(recursive=True)
    os.kill(second.pid, signal.SIGINT)
    time.sleep(0.2)
    os.kill(second.pid, signal.SIGINT)
    second.wait(timeout=90)
    assert max(steps(tmp_path)) == 24

    third = typed(tmp_path, "run", *SWEEP)
    assert third.returncode == 1
    assert "4 trials failed; the same command runs what is left, and only that" in third.stdout, third.stdout
    assert "RuntimeError: bad luck in a part" in third.stdout

    undisturbed = tmp_path_factory.mktemp("undisturbed")
    assert typed(undisturbed, "run", *SWEEP, "runtime.tracking_uri=none").returncode == 1
    assert len(histories(tmp_path)) == 12
    assert histories(tmp_path) == histories(undisturbed)
    statuses = [summary["status"] for trial in trials.iterdir() if (summary := finished(trial)) is not None]
    assert sorted(statuses) == ["diverged"] * 4 + ["finished"] * 8

    assert typed(tmp_path, "sync").returncode == 0
    states = {run["name"]: run["state"] for run in runs(tmp_path)}
    assert len(states) == 17
    assert sorted(states.values()) == sorted(["FAILED"] * 5 + ["FINISHED"] * 12)
    assert not psutil.wait_procs(family, timeout=30)[1]
    assert not [p for p in psutil.process_iter(["cwd"]) if p.info["cwd"] == str(tmp_path)]
    assert not list(tmp_path.rglob("lease.*")) and not list(tmp_path.rglob("*.part"))
