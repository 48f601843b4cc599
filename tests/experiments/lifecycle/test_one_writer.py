"""A trial has one writer: whoever was taken for gone and wakes up changes nothing."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from analysis.record.history import last_sealed_step
from analysis.record.layout import HISTORY, WEIGHTS
from analysis.record.outcome import read_outcome
from experiments.lifecycle import lease as leases
from experiments.lifecycle.attempts import set_attempt_aside
from experiments.lifecycle.lease import Holder, Lease, LeaseLost, acquire
from experiments.lifecycle.state import trial_state
from experiments.trial.train import train

Prepared = Callable[..., Path]
pytestmark = pytest.mark.filterwarnings("ignore:.*LeafSpec:FutureWarning")  # Lightning's own, with this torch


class SimulatedCrash(Exception):
    """The second holder ends in the middle, as its machine does."""


@pytest.fixture
def take_over(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], Lease]:
    """Take a trial over from a holder on another host that has not refreshed its lease for long."""

    def taken(folder: Path) -> Lease:
        monkeypatch.setattr(leases, "process_space", lambda: ("another host", "", ""))
        for path in folder.glob("lease.*"):
            os.utime(path, (0, 0))
        lease = acquire(folder)
        assert lease is not None
        set_attempt_aside(lease)
        return lease

    return taken


def content(folder: Path) -> dict[str, bytes]:
    """All files of a trial but those of earlier attempts."""
    files = (path for path in folder.rglob("*") if path.is_file() and "attempts" not in path.parts)
    return {path.name: path.read_bytes() for path in files}


def at_step(step: int, event: Callable[[], object]) -> Callable[[], bool]:
    """A question whether to stop, asked after each step, which is answered with no; the event comes with one step."""
    steps = iter(range(1, 10_000))

    def asked() -> bool:
        if next(steps) == step:
            event()
        return False

    return asked


@pytest.mark.parametrize("step", [1, 3, 6])
def test_g1_who_was_taken_over_writes_nothing_and_the_second_holder_s_trial_stands(
    folder_of: Prepared, take_over: Callable[[Path], Lease], step: int
) -> None:
    undisturbed, folder = folder_of(), folder_of()
    train(undisturbed)
    first = acquire(folder)
    assert first is not None
    after: dict[str, bytes] = {}

    def second_holder() -> None:
        lease = take_over(folder)
        train(folder, right=lease)
        lease.release()
        after.update(content(folder))

    with pytest.raises(LeaseLost):
        train(folder, stopping=at_step(step, second_holder), right=first)
    assert content(folder) == after
    assert (folder / HISTORY).read_bytes() == (undisturbed / HISTORY).read_bytes()
    assert (folder / WEIGHTS).read_bytes() == (undisturbed / WEIGHTS).read_bytes()
    assert last_sealed_step(folder) == json.loads((folder / "summary.json").read_text())["steps"] == 6
    aside = read_outcome(folder / "attempts" / "0")
    assert aside is not None and aside.outcome == "killed"


def test_g1_a_stream_that_another_is_writing_is_never_sealed(
    folder_of: Prepared, take_over: Callable[[Path], Lease]
) -> None:
    folder = folder_of()
    first = acquire(folder)
    assert first is not None
    half_written: dict[str, bytes] = {}

    def crash() -> None:
        raise SimulatedCrash

    def second_holder() -> None:
        with pytest.raises(SimulatedCrash):
            train(folder, stopping=at_step(3, crash), right=take_over(folder))
        half_written.update(content(folder))

    with pytest.raises(LeaseLost):
        train(folder, stopping=at_step(3, second_holder), right=first)
    assert content(folder) == half_written
    assert not (folder / HISTORY).exists() and len(list(folder.glob("history.*.arrow"))) == 1
    assert trial_state(folder) == "running", "by the second holder, as far as anyone can tell"


def test_a_checkpoint_is_not_written_without_the_lease(folder_of: Prepared, take_over: Callable[[Path], Lease]) -> None:
    folder = folder_of()
    first = acquire(folder)
    assert first is not None

    def stop() -> bool:
        take_over(folder)
        return True

    with pytest.raises(LeaseLost):
        train(folder, stopping=stop, right=first)
    assert not (folder / "checkpoint.pt").exists()


def test_nothing_is_set_aside_without_the_lease(folder_of: Prepared, take_over: Callable[[Path], Lease]) -> None:
    folder = folder_of()
    first = acquire(folder)
    assert first is not None
    take_over(folder)
    (folder / "trial.log").write_text("of the second holder")
    with pytest.raises(LeaseLost):
        set_attempt_aside(first)
    assert (folder / "trial.log").exists()


def test_g2_containers_of_one_host_name_do_not_take_each_other_for_dead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    host, boot, namespace = leases.process_space()
    lease = acquire(tmp_path)
    assert lease is not None
    monkeypatch.setattr(leases, "process_space", lambda: (host, boot, namespace + "1"))
    monkeypatch.setattr(os, "getpid", lambda: 1)
    assert Holder.this_process().process == 1
    assert acquire(tmp_path) is None and not lease.was_taken_over()
