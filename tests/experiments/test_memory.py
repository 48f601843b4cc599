"""Trials that could have no room are named before they start."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from omegaconf import DictConfig

from experiments import smoke
from experiments.identity import understood
from experiments.memory import refuse_full_disk


def test_e10_a_disk_without_room_for_weights_and_checkpoints_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """10 trials of a million weights: 40 MB of weights; 2 at a time: 2 × 12 MB of checkpoints."""
    disk = shutil.disk_usage(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: disk._replace(free=64_000_000))
    refuse_full_disk(tmp_path, [1_000_000] * 10, 2, keep_gb=1.0)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: disk._replace(free=63_999_999))
    with pytest.raises(ValueError, match=r"0\.064 GB left; .* 0\.04 GB of weights and 0\.024 GB of checkpoints"):
        refuse_full_disk(tmp_path, [1_000_000] * 10, 2, keep_gb=1.0)
    refuse_full_disk(tmp_path, [1_000_000] * 10, 2, keep_gb=0.03)


def test_more_trials_than_memory_has_room_for_are_named(
    compose: Callable[..., DictConfig], monkeypatch: pytest.MonkeyPatch
) -> None:
    arms, tried = {"wide": understood(compose())}, smoke.Tried({"wide": 0.1}, {"wide": 3e9}, {})
    runtime = {"slots": 4, "trials_per_device": 1}
    monkeypatch.setattr(smoke, "free", lambda accelerator: 13e9)
    assert smoke.crowding(arms, tried, runtime) == ""
    monkeypatch.setattr(smoke, "free", lambda accelerator: 7e9)
    assert "4 trials at a time would hold up to 12 GB of memory, 7 GB are free: 2 have room" in smoke.crowding(
        arms, tried, runtime
    )
