"""Trials that are killed, interrupted or orphaned: real processes, really ended."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.conftest import QUICK, trained, typed


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
LONG = ("norm=layernorm,rmsnorm", "seed=range(2)", "runtime.slots=2", "runtime.tracking_uri=none")


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
    assert "1 of 4 trials failed; the same command runs them again, and only them" in out
    again = typed(tmp_path, "run", *words)
    assert again.returncode == 0
    assert trained(again) == 1
    assert len(list((tmp_path / "results" / "trials").glob("*/attempts/0/trial.log"))) == 1


def test_a28_an_interrupt_ends_all_and_says_how_to_go_on(start: Start) -> None:
    run = start(*QUICK[1:], *LONG, "trainer.max_steps=100000")
    family = [psutil.Process(run.pid), *awaited(lambda: workers(run.pid))]
    os.kill(run.pid, signal.SIGINT)
    _, err = run.communicate(timeout=60)
    assert run.returncode != 0
    assert "interrupted; this finishes what is left: knockout run" in err
    assert not psutil.wait_procs(family, timeout=10)[1]


def test_a49_no_trial_outlives_its_parent(start: Start) -> None:
    run = start(*QUICK[1:], *LONG, "trainer.max_steps=100000")
    family = awaited(lambda: workers(run.pid))
    run.kill()
    assert not psutil.wait_procs(family, timeout=20)[1]
