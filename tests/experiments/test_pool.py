"""Devices are shared out within what is visible, and no two trials have the same one unless told to."""

from typing import Any

import pytest

from experiments.pool import MASK, Pool, pool, visible

RUNTIME = {"slots": None, "trials_per_device": 1}


def asked(devices: int = 1, accelerator: str = "gpu", threads: int = 1) -> dict[str, Any]:
    return {"devices": devices, "accelerator": accelerator, "threads": threads}


@pytest.fixture
def four(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MASK, "4,5,6,7")


@pytest.mark.usefixtures("four")
def test_e7_trials_get_disjoint_devices_of_the_mask_and_give_them_back() -> None:
    devices = pool([asked(2)], RUNTIME)
    first, second = devices.take("a", 2), devices.take("b", 2)
    assert first is not None and second is not None
    assert sorted([*first, *second]) == ["4", "5", "6", "7"]
    assert devices.take("c", 2) is None
    devices.give("a")
    assert devices.take("c", 2) == first


@pytest.mark.usefixtures("four")
def test_e7_more_devices_than_there_are_get_a_sentence() -> None:
    with pytest.raises(ValueError, match=r"trainer.devices=5: CUDA_VISIBLE_DEVICES=4,5,6,7 shows 4 GPUs"):
        pool([asked(1), asked(5)], RUNTIME)


@pytest.mark.usefixtures("four")
def test_several_trials_share_a_device_only_when_told_and_the_least_shared_first() -> None:
    devices = pool([asked()], RUNTIME | {"trials_per_device": 2})
    given = [devices.take(number, 1) for number in range(8)]
    assert sorted(name for names in given for name in names or ()) == sorted("45674567")
    assert {name for names in given[:4] for name in names or ()} == set("4567")
    assert devices.take(8, 1) is None
    assert devices.shares(0)


@pytest.mark.usefixtures("four")
def test_slots_bound_what_runs_at_a_time() -> None:
    devices = pool([asked()], RUNTIME | {"slots": 1})
    assert devices.take("a", 1) is not None
    assert devices.take("b", 1) is None


def test_on_cpus_threads_and_ranks_share_the_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda process: set(range(8)))
    devices = pool([asked(2, "cpu", 2)], RUNTIME)
    assert [devices.take(number, 2) for number in range(3)] == [["", ""], ["", ""], None]
    assert pool([asked(3, "cpu", 4)], RUNTIME).take("wide", 3) is not None, "one trial always has room"


def test_how_many_may_run_beside_a_trial_is_known_before_any_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda process: set(range(8)))
    assert [pool([asked(1, "cpu")], RUNTIME).beside(trials) for trials in (1, 3, 100)] == [0, 2, 7]
    assert pool([asked(1, "cpu")], RUNTIME | {"slots": 1}).beside(100) == 0
    monkeypatch.setenv(MASK, "4,5,6,7")
    assert pool([asked()], RUNTIME).beside(100) == 0, "each has a GPU of its own"
    assert pool([asked()], RUNTIME | {"trials_per_device": 3}).beside(100) == 2


def test_a_mask_of_nothing_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(MASK, "")
    assert visible() == []
    assert Pool({}, 0).take("a", 1) is None  # type: ignore[arg-type]
