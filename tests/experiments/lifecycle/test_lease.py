"""Nothing is trained twice, and nobody waits for the dead."""

import json
import multiprocessing
import os
import subprocess
import sys
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from experiments.lifecycle import lease as leases
from experiments.lifecycle.lease import LEASE_TIMEOUT_SECONDS, Holder, LeaseLost, acquire, current_holder
from experiments.lifecycle.state import trial_state

HERE = Holder.this_process()
ELSEWHERE = Holder("elsewhere", "boot", "pid:[1]", 1, 0.0)


def write_lease(folder: Path, number: int, holder: Holder, age: float = 0.0) -> None:
    """A lease that its holder refreshed `age` seconds ago."""
    path = folder / f"lease.{number}"
    path.write_text(json.dumps({"holder": asdict(holder), "attempt": "other"}))
    os.utime(path, (time.time() - age, time.time() - age))


def test_a_lease_is_held_by_one_and_given_back(tmp_path: Path) -> None:
    lease = acquire(tmp_path)
    assert lease is not None and acquire(tmp_path) is None
    assert current_holder(tmp_path) == Holder.this_process()
    assert trial_state(tmp_path) == "running"
    lease.release()
    assert current_holder(tmp_path) is None and not list(tmp_path.iterdir())


def test_a_dead_process_holds_nothing(tmp_path: Path) -> None:
    dead = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True)
    write_lease(tmp_path, 0, replace(HERE, process=int(dead.stdout), started=time.time()))
    assert current_holder(tmp_path) is None
    lease = acquire(tmp_path)
    assert lease is not None and lease.number == 1
    lease.release()
    assert not list(tmp_path.iterdir())


def test_a_later_process_of_the_same_number_is_another(tmp_path: Path) -> None:
    write_lease(tmp_path, 0, replace(HERE, started=HERE.started - 100))
    assert current_holder(tmp_path) is None


@pytest.mark.parametrize("field", ["host", "boot", "namespace"])
def test_a_process_that_cannot_be_seen_is_believed_while_its_lease_is_refreshed(tmp_path: Path, field: str) -> None:
    """On another host, after another boot of one host name, in another namespace of process numbers."""
    unseen = replace(HERE, process=2**22 + 1, **{field: "another"})
    write_lease(tmp_path, 0, unseen, LEASE_TIMEOUT_SECONDS - 20)
    assert current_holder(tmp_path) == unseen
    assert acquire(tmp_path) is None
    write_lease(tmp_path, 0, unseen, LEASE_TIMEOUT_SECONDS + 20)
    lease = acquire(tmp_path)
    assert lease is not None and lease.number == 1
    assert not lease.was_taken_over()
    write_lease(tmp_path, 2, unseen)
    assert lease.was_taken_over()


def test_who_lost_a_lease_replaces_refreshes_and_removes_nothing(tmp_path: Path) -> None:
    """Also where the next holder has ended and a third one has a lease of the same number."""
    first = acquire(tmp_path)
    assert first is not None
    first.path.unlink()
    third = acquire(tmp_path)
    assert third is not None and third.number == first.number
    os.utime(third.path, (0, 0))
    (tmp_path / "file").write_text("of the third")
    with pytest.raises(LeaseLost, match="another command took trial"), first.replacing(tmp_path / "file") as part:
        part.write_text("of the first")
    first.refresh()
    first.release()
    assert third.path.stat().st_mtime == 0 and not third.was_taken_over()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "lease.0"]
    assert (tmp_path / "file").read_text() == "of the third"
    with third.replacing(tmp_path / "file") as part:
        part.write_text("new")
    assert (tmp_path / "file").read_text() == "new"


def test_a_lease_is_refreshed_from_the_process_that_trains(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leases, "HEARTBEAT_SECONDS", 0.01)
    lease = acquire(tmp_path)
    assert lease is not None
    os.utime(lease.path, (0, 0))
    with leases.refreshed(lease):
        end = time.monotonic() + 30
        while lease.path.stat().st_mtime == 0 and time.monotonic() < end:
            time.sleep(0.01)
    assert lease.path.stat().st_mtime > 0


def test_a_lease_that_is_being_written_counts(tmp_path: Path) -> None:
    (tmp_path / "lease.0").touch()
    assert acquire(tmp_path) is None
    os.utime(tmp_path / "lease.0", (0, 0))
    lease = acquire(tmp_path)
    assert lease is not None and lease.number == 1


def race(folder: Path, start: Any, end: Any, won: Any) -> None:
    """Take all that can be had, and stay alive with it until the end."""
    start.wait()
    for number in range(50):
        if acquire(folder / str(number)) is not None:
            won.put(number)
    won.put(-1)
    end.wait()


@pytest.mark.parametrize("stale", [False, True])
def test_a22_e8_of_many_at_once_one_gets_each(tmp_path: Path, stale: bool) -> None:
    for number in range(50):
        (tmp_path / str(number)).mkdir()
        if stale:
            write_lease(tmp_path / str(number), 0, ELSEWHERE, LEASE_TIMEOUT_SECONDS + 20)
    context = multiprocessing.get_context("fork")
    start, end, won = context.Event(), context.Event(), context.Queue()
    racers = [context.Process(target=race, args=(tmp_path, start, end, won)) for _ in range(4)]
    for racer in racers:
        racer.start()
    start.set()
    ended, taken = 0, []
    while ended < 4:
        number = won.get(timeout=60)
        ended, taken = (ended + 1, taken) if number < 0 else (ended, [*taken, number])
    end.set()
    for racer in racers:
        racer.join()
    assert sorted(taken) == list(range(50))
