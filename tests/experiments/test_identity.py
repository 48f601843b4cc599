"""A trial is what changes its numbers, and nothing else."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from omegaconf import DictConfig

from experiments.identity import plain, understood

Compose = Callable[..., DictConfig]


def identity(compose: Compose, *overrides: str, seed: int = 0) -> str:
    return understood(compose(*overrides)).trial(seed)[0]


@pytest.mark.parametrize(
    "words",
    [
        ["study.question=another"],
        ["study=norm"],
        ["diagnostic=[]"],
        ["diagnostic.gradient_norm.every=7"],
        ["runtime.results=elsewhere", "runtime.slots=7"],
        ["+study.endpoints={train/loss:mean}"],
    ],
    ids=" ".join,
)
def test_what_changes_no_number_makes_no_other_trial(compose: Compose, words: list[str]) -> None:
    assert identity(compose, *words) == identity(compose)


@pytest.mark.parametrize(
    "words",
    ["norm=rmsnorm", "norm.eps=1e-6", "placement=post", "model.depth=3", "optimizer.lr=1e-3", "schedule.warmup=3",
     "trainer.max_steps=7", "trainer.threads=2", "batch_size=5", "data.validation=0.2", "init_seed=1", "data_seed=1"],
)  # fmt: skip
def test_what_changes_numbers_makes_another_trial(compose: Compose, words: str) -> None:
    assert identity(compose, words) != identity(compose)


def test_a_seed_sets_both_seeds_and_one_of_them_can_stay(compose: Compose) -> None:
    assert identity(compose, seed=1) == identity(compose, "seed=1", seed=1) != identity(compose)
    _, config = understood(compose("data_seed=5")).trial(3)
    assert (config["seed"], config["init_seed"], config["data_seed"]) == (3, 3, 5)


def test_a_kind_that_the_model_never_asked_for_does_not_count(compose: Compose) -> None:
    assert identity(compose, "placement=none", "norm=rmsnorm") == identity(compose, "placement=none")
    assert identity(compose, "placement=pre", "norm=rmsnorm") != identity(compose, "placement=pre")


def test_data_count_by_content_and_not_by_path(compose: Compose, text: Path, tmp_path: Path) -> None:
    moved, other = tmp_path / "moved.txt", tmp_path / "other.txt"
    shutil.copy(text, moved)
    other.write_text(text.read_text().replace("cat", "dog"))
    first, second, third = (identity(compose, "data=text", f"data.path={path}") for path in (text, moved, other))
    assert first == second != third


def test_a12_numbers_are_numbers_however_they_are_written(compose: Compose) -> None:
    assert identity(compose, "optimizer.lr=1e-3") == identity(compose, "optimizer.lr=0.001")
    assert identity(compose, "optimizer.lr=1") == identity(compose, "optimizer.lr=1.0")


def test_a_configuration_is_plain_all_the_way_down(compose: Compose, text: Path) -> None:
    def types(value: object) -> set[type]:
        if isinstance(value, dict):
            return {dict}.union(*(types(each) for each in value.values()))
        return {list}.union(*(types(each) for each in value)) if isinstance(value, list) else {type(value)}

    config = plain(compose("data=text", f"data.path={text}"))
    assert types(config) <= {dict, list, str, int, float, bool, type(None)}
    assert config["init_seed"] == 0
