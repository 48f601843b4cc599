"""Trials that fail, are killed, interrupted or orphaned: real processes, really ended."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import psutil
import pytest

from experiments.recorder import read
from tests.conftest import QUICK, ROOT, Command, runs, trained, typed


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., "subprocess.Popen[str]"]]:
    """Begin a command and go on; it is over at the latest when the test is."""
    begun: list[subprocess.Popen[str]] = []

    def started(*words: str) -> "subprocess.Popen[str]":
        line = [sys.executable, "-m", "experiments.cli", "run", *words]
        pipes: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        begun.append(subprocess.Popen(line, cwd=tmp_path, start_new_session=True, **pipes))
        return begun[-1]

    yield started
    for process in begun:
        process.kill()
        process.communicate()


def awaited(condition: Callable[[], Any], seconds: float = 60) -> Any:
    """What the condition gives once it gives something."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := condition():
            return found
        time.sleep(0.05)
    raise TimeoutError(condition)


Start = Callable[..., "subprocess.Popen[str]"]
FAULTY = f"plugins=[{ROOT / 'tests' / 'faulty.py'}]"
OFF = ("runtime.slots=2", "runtime.tracking_uri=none", "runtime.smoke=0")
LONG = ("norm=layernorm,rmsnorm", "seed=range(2)", *OFF)


def workers(parent: int) -> list[psutil.Process]:
    """The processes that train: those below the parent that have a trial's log open."""
    family = psutil.Process(parent).children(recursive=True)
    return [each for each in family if any(file.path.endswith("trial.log") for file in _open(each))]


def _open(process: psutil.Process) -> list[Any]:
    try:
        return process.open_files()
    except psutil.Error:
        return []


def test_a14_a_killed_trial_ends_alone_and_is_run_again(start: Start, tmp_path: Path) -> None:
    words = [*QUICK[1:], *LONG, "trainer.max_steps=100"]
    run = start(*words)
    awaited(lambda: workers(run.pid))[0].kill()
    out, _ = run.communicate(timeout=120)
    assert run.returncode == 1
    assert "killed by SIGKILL, perhaps for want of memory" in out
    assert "1 trial failed; the same command runs what is left, and only that" in out
    again = typed(tmp_path, "run", *words)
    assert again.returncode == 0
    assert trained(again) == 1
    assert len(list((tmp_path / "results" / "trials").glob("*/attempts/0/trial.log"))) == 1


def test_a14_e10_what_fails_stops_no_other_and_says_why(command: Command) -> None:
    ran = command("run", FAULTY, "norm=layernorm,raises,exits,dies,full", *QUICK, *OFF, "runtime.retries=1")
    assert ran.returncode == 1
    reasons = {
        "raises": "RuntimeError: bad luck in a part",
        "exits": "SystemExit: 3",
        "dies": "killed by SIGKILL, perhaps for want of memory",
        "full": "is full: free some of it, or name another with runtime.results=FOLDER",
    }
    told = command("status").stdout
    for norm, reason in reasons.items():
        lines = [line for line in ran.stdout.splitlines() if line.startswith(f"norm={norm} · seed 0: failed")]
        assert len(lines) == 2 and all(reason in line for line in lines), ran.stdout
        assert "it is tried again" in lines[0]
        assert norm == "dies" or reason in told
    assert "1 done, 0 running, 4 failed, 0 left" in ran.stdout
    assert "1 finished, 0 diverged, 0 running, 0 stopped, 4 failed, 0 left" in told


def test_e3_failed_ones_are_run_again_or_left_as_one_asks(command: Command) -> None:
    words = ("run", FAULTY, "norm=layernorm,raises", *QUICK, *OFF)
    assert "norm=raises · seed 0: failed" in command(*words).stdout
    left = command(*words, "runtime.failed=leave")
    assert "norm=raises · seed 0: failed" not in left.stdout and left.returncode == 1
    assert "failed: " in left.stdout, "it is outstanding all the same"


def test_a15_a_sweep_stops_after_as_many_failures_as_it_was_told(command: Command) -> None:
    words = ("norm=raises,layernorm,rmsnorm,none", *QUICK, "runtime.slots=1", "runtime.tracking_uri=none")
    ran = command("run", FAULTY, *words, "runtime.stop_after=1")
    assert ran.returncode == 1
    assert "1 failed (runtime.stop_after): 3 trials are not started" in ran.stdout
    assert "1 finished" not in ran.stdout


def test_a_trial_that_takes_too_long_is_ended(command: Command) -> None:
    ran = command("run", FAULTY, "norm=sleeps,layernorm", *QUICK, *OFF, "runtime.timeout_minutes=0.3")
    assert "failed" in ran.stdout and "it took longer than runtime.timeout_minutes=0.3" in ran.stdout
    assert "1 done, 0 running, 1 failed" in ran.stdout


def test_e9_what_ran_out_of_memory_beside_others_runs_again_alone(process: Command) -> None:
    ran = process("run", FAULTY, "norm=hungry", "norm.at=1", "seed=range(3)", *QUICK, *OFF)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "out of memory; it runs again when it can be alone" in ran.stdout
    assert "3 done, 0 running, 0 failed, 0 left" in ran.stdout


def test_a28_an_interrupt_stops_all_and_they_go_on_from_there(start: Start, tmp_path: Path) -> None:
    words = (FAULTY, "norm=slow", "norm.at=1", "seed=range(4)", *QUICK[1:], *OFF, "trainer.max_steps=60")
    run = start(*words)
    family = [psutil.Process(run.pid), *awaited(lambda: len(found := workers(run.pid)) == 2 and found)]
    awaited(lambda: max(steps(tmp_path), default=0) > 0)
    os.kill(run.pid, signal.SIGINT)
    out, err = run.communicate(timeout=60)
    assert run.returncode != 0
    assert "stopping 2 trials; once more Ctrl-C ends them at once" in out
    assert out.count("to be continued from there") == 2
    assert "interrupted; this finishes what is left: knockout run" in err
    assert not psutil.wait_procs(family, timeout=10)[1]
    assert "2 stopped, 0 failed, 2 left" in typed(tmp_path, "status").stdout
    again = typed(tmp_path, "run", *words)
    assert again.returncode == 0
    assert trained(again) == 4
    resumed = [json.loads(path.read_text())["resumed_from"] for path in tmp_path.glob("results/trials/*/summary.json")]
    assert sum(step is not None and step > 0 for step in resumed) == 2


def steps(folder: Path) -> list[int]:
    """How far the trials have come."""
    tables = [read(trial) for trial in (folder / "results" / "trials").glob("*")]
    return [table["step"][-1].as_py() for table in tables if table is not None and len(table)]


def test_a28_a_second_interrupt_ends_all_at_once(start: Start) -> None:
    run = start(FAULTY, "norm=sleeps", "norm.at=0", "seed=range(4)", *QUICK[1:], *OFF, "trainer.max_steps=60")
    family = [psutil.Process(run.pid), *awaited(lambda: len(found := workers(run.pid)) == 2 and found)]
    os.kill(run.pid, signal.SIGINT)
    assert run.stdout is not None
    awaited(lambda: "once more" in run.stdout.readline())  # pyright: ignore[reportOptionalMemberAccess]
    began = time.monotonic()
    os.kill(run.pid, signal.SIGINT)
    run.communicate(timeout=60)
    assert time.monotonic() - began < 15, "not the half minute that trials have to write down where they stand"
    assert not psutil.wait_procs(family, timeout=10)[1]


def test_b14_what_slurm_sends_stops_trials_like_an_interrupt(start: Start, tmp_path: Path) -> None:
    words = (FAULTY, "norm=slow", "norm.at=1", "seed=range(2)", *QUICK[1:], *OFF, "trainer.max_steps=600")
    run = start(*words)
    awaited(lambda: len([count for count in steps(tmp_path) if count > 0]) == 2)
    os.kill(run.pid, signal.SIGUSR1)
    run.communicate(timeout=60)
    assert len(list(tmp_path.glob("results/trials/*/checkpoint.pt"))) == 2
    assert not list(tmp_path.glob("results/trials/*/lease.*"))


def test_a49_no_trial_outlives_its_parent(start: Start, tmp_path: Path) -> None:
    run = start(*QUICK[1:], *LONG, "trainer.max_steps=100000")
    family = awaited(lambda: workers(run.pid))
    run.kill()
    assert not psutil.wait_procs(family, timeout=20)[1]
    assert " 0 running, 0 stopped, " in typed(tmp_path, "status").stdout


def test_e2_e8_two_commands_at_the_same_moment_train_every_trial_once(start: Start, tmp_path: Path) -> None:
    words = ("norm=layernorm,rmsnorm", "seed=range(4)", *QUICK[1:], "trainer.max_steps=40", "runtime.slots=1")
    outs = [run.communicate(timeout=240) for run in [start(*words), start(*words)]]
    assert all("8 done, 0 running, 0 failed, 0 left" in out for out, _ in outs), outs
    assert sum(out.count("(elsewhere): finished") for out, _ in outs) == 8
    assert not list(tmp_path.glob("results/trials/*/attempts"))
    assert not list(tmp_path.glob("results/**/lease.*"))
    assert not [err for _, err in outs if err]
    names = [run["name"] for run in runs(tmp_path)]
    assert len(names) == len(set(names)) == 9
    assert {run["state"] for run in runs(tmp_path)} == {"FINISHED"}


def test_e8_elsewhere_can_be_left_elsewhere(start: Start, tmp_path: Path) -> None:
    words = (FAULTY, "norm=slow", "norm.at=1", *QUICK[1:], *OFF, "trainer.max_steps=600")
    first = start(*words)
    awaited(lambda: list(tmp_path.glob("results/trials/*/lease.0")))
    second = typed(tmp_path, "run", *words, "runtime.elsewhere=leave")
    assert "1 trials are left to the commands that train them" in second.stdout
    assert first.poll() is None


def test_a2_a3_a4_a5_b33_two_ranks_are_one_trial_one_folder_one_run_and_the_same_numbers(
    process: Command, tmp_path: Path
) -> None:
    """Whatever Slurm and others left in the environment."""
    environment = {
        **os.environ, "SLURM_NTASKS": "4", "SLURM_JOB_NAME": "job", "SLURM_JOB_ID": "1", "SLURM_PROCID": "2",
        "MASTER_PORT": "29500", "WORLD_SIZE": "7", "MLFLOW_RUN_ID": "0" * 32,
    }  # fmt: skip
    words = ("trainer.devices=1,2", *QUICK[1:], "trainer.max_steps=20", "runtime.smoke=0")
    ran = process("run", *words, env=environment)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    pairs: dict[int, dict[int, pd.DataFrame]] = {}
    folders = list((tmp_path / "results" / "trials").iterdir())
    assert len(folders) == 2
    for folder in folders:
        said = json.loads((folder / "summary.json").read_text())
        pairs.setdefault(said["seeds"]["seed"], {})[said["devices"]] = pd.read_parquet(folder / "history.parquet")
    for pair in pairs.values():
        for measure in ("val/loss", "train/loss", "tokens", "gradient_norm/total"):
            both = [pair[devices][measure].dropna().to_list() for devices in (1, 2)]
            assert both[0] == pytest.approx(both[1], abs=1e-5)
    assert len(runs(tmp_path)) == 3


def test_a48_a_rank_that_dies_fails_its_trial_and_no_other(command: Command) -> None:
    ran = command("run", FAULTY, "norm=rank,layernorm", "trainer.devices=2", *QUICK, *OFF)
    assert ran.returncode == 1
    assert "1 done, 0 running, 1 failed, 0 left" in ran.stdout
    assert "norm=rank · seed 0: failed" in ran.stdout
