"""Nothing is trained twice, and nobody waits for the dead."""

import json
import multiprocessing
import os
import platform
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from experiments.lease import PATIENCE, Holder, Lease, holder, take
from experiments.state import state


def foreign(folder: Path, number: int, age: float) -> None:
    """A lease of a process on another host that gave its last sign of life `age` seconds ago."""
    path = folder / f"lease.{number}"
    path.write_text(json.dumps({"host": "elsewhere", "process": 1, "began": 0.0}))
    os.utime(path, (time.time() - age, time.time() - age))


def test_a_lease_is_held_by_one_and_given_back(tmp_path: Path) -> None:
    lease = take(tmp_path)
    assert lease is not None and take(tmp_path) is None
    assert holder(tmp_path) == Holder.here()
    assert state(tmp_path) == "running"
    lease.release()
    assert holder(tmp_path) is None and not list(tmp_path.iterdir())


def test_a_dead_process_holds_nothing(tmp_path: Path) -> None:
    dead = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True)
    (tmp_path / "lease.0").write_text(
        json.dumps({"host": platform.node(), "process": int(dead.stdout), "began": time.time()})
    )
    assert holder(tmp_path) is None
    lease = take(tmp_path)
    assert lease is not None and lease == Lease(tmp_path, 1)
    lease.release()
    assert not list(tmp_path.iterdir())


def test_a_later_process_of_the_same_number_is_another(tmp_path: Path) -> None:
    here = psutil.Process()
    (tmp_path / "lease.0").write_text(
        json.dumps({"host": platform.node(), "process": here.pid, "began": here.create_time() - 100})
    )
    assert holder(tmp_path) is None


def test_another_host_is_believed_while_it_gives_signs_of_life(tmp_path: Path) -> None:
    foreign(tmp_path, 0, PATIENCE - 20)
    held = holder(tmp_path)
    assert held is not None and held.host == "elsewhere"
    assert take(tmp_path) is None
    foreign(tmp_path, 0, PATIENCE + 20)
    lease = take(tmp_path)
    assert lease is not None and lease == Lease(tmp_path, 1)
    assert not lease.lost()
    foreign(tmp_path, 2, 0)
    assert lease.lost()


def test_a_lease_that_is_being_written_counts(tmp_path: Path) -> None:
    (tmp_path / "lease.0").touch()
    assert take(tmp_path) is None
    os.utime(tmp_path / "lease.0", (0, 0))
    assert take(tmp_path) == Lease(tmp_path, 1)


def race(folder: Path, start: Any, end: Any, won: Any) -> None:
    """Take all that can be had, and stay alive with it until the end."""
    start.wait()
    for number in range(50):
        if take(folder / str(number)) is not None:
            won.put(number)
    won.put(-1)
    end.wait()


@pytest.mark.parametrize("stale", [False, True])
def test_a22_e8_of_many_at_once_one_gets_each(tmp_path: Path, stale: bool) -> None:
    for number in range(50):
        (tmp_path / str(number)).mkdir()
        if stale:
            foreign(tmp_path / str(number), 0, PATIENCE + 20)
    context = multiprocessing.get_context("fork")
    start, end, won = context.Event(), context.Event(), context.Queue()
    racers = [context.Process(target=race, args=(tmp_path, start, end, won)) for _ in range(4)]
    for racer in racers:
        racer.start()
    start.set()
    ended, found = 0, []
    while ended < 4:
        number = won.get(timeout=60)
        ended, found = (ended + 1, found) if number < 0 else (ended, [*found, number])
    end.set()
    for racer in racers:
        racer.join()
    assert sorted(found) == list(range(50))
