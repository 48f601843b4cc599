"""A trial is what changes its numbers, and nothing else."""

import shutil
from collections.abc import Callable
from pathlib import Path

import hydra
import pytest
from omegaconf import DictConfig

from experiments import build
from experiments.identity import plain, understood
from experiments.options import KINDS
from experiments.run import CONF

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


@pytest.mark.parametrize("mixer", ["lstm", "gru", "rnn", "mingru", "none"])
def test_positions_that_a_mixer_never_reads_do_not_count(compose: Compose, mixer: str) -> None:
    ids = {p: understood(compose(f"mixer={mixer}", f"position={p}")).trial(0)[0] for p in ("none", "rope", "alibi")}
    assert len(set(ids.values())) == 1
    assert understood(compose(f"mixer={mixer}", "position=sinusoidal")).trial(0)[0] not in ids.values()


def test_weights_that_nothing_reads_are_refused(compose: Compose) -> None:
    with pytest.raises(ValueError, match=r"nothing in this model reads position.table.weight: .* choose another posit"):
        understood(compose("mixer=lstm", "position=t5"))


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


PRESETS = [path.stem for path in sorted((CONF / "model").glob("*.yaml"))]


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_takes_every_part_in_place_of_its_own(compose: Compose, preset: str) -> None:
    compose()
    with hydra.initialize_config_dir(str(CONF), version_base="1.3"):
        own = plain(hydra.compose("config", [f"model={preset}"]))
        for kind in {chosen.partition("=")[0] for chosen in own["knobs"]}:
            other = next(name for name in KINDS[kind].names() if name != own[kind]["name"])
            assert plain(hydra.compose("config", [f"model={preset}", f"{kind}={other}"]))[kind]["name"] == other


def test_the_knobs_of_a_preset_hold_where_the_part_stays_and_yield_to_the_command_line(compose: Compose) -> None:
    def biases(*words: str) -> object:
        with hydra.initialize_config_dir(str(CONF), version_base="1.3"):
            made = hydra.compose("config", ["model=nanogpt_cpu", *words], return_hydra_config=True)
        return understood(made).config["norm"].get("bias", "none")

    compose()
    assert biases() is False
    assert biases("norm=layernorm") is False
    assert biases("norm.bias=true") is True
    assert biases("norm=rmsnorm") == "none"


@pytest.mark.parametrize(("preset", "parameters"), [("gpt2", 124_439_808), ("llama", 6_738_415_616)])
def test_m1_presets_have_the_published_sizes(compose: Compose, preset: str, parameters: int) -> None:
    compose()
    with hydra.initialize_config_dir(str(CONF), version_base="1.3"):
        arm = understood(hydra.compose("config", [f"model={preset}"]))
    vocabulary = {"gpt2": 50_257, "llama": 32_000}[preset]
    model, _ = build.model(arm.config, vocabulary, device="meta")
    assert sum(p.numel() for p in model.parameters()) == parameters
