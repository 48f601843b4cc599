"""Axes and designs become arms; what cannot be meant is refused before anything trains."""

from collections.abc import Callable

import pytest
from hydra.core.override_parser.overrides_parser import OverridesParser
from omegaconf import DictConfig

from experiments.axes import word
from experiments.run import held
from experiments.study import Plan, plan
from experiments.sweep import announcement

Compose = Callable[..., DictConfig]


def planned(compose: Compose, *words: str) -> Plan:
    return plan(OverridesParser.create().parse_overrides(list(words)), lambda lines: compose(*lines))


def test_axes_are_a_factorial_and_the_first_levels_the_baseline(compose: Compose) -> None:
    made = planned(compose, "norm=layernorm,rmsnorm", "placement=pre,post", "seed=range(3)")
    assert list(made.arms) == [
        "norm=layernorm, placement=pre", "placement=post", "norm=rmsnorm", "norm=rmsnorm, placement=post",
    ]  # fmt: skip
    assert made.seeds == [0, 1, 2]
    assert len({trial.id for trial in made.trials}) == 12


def test_a_study_file_is_one_factor_at_a_time(compose: Compose) -> None:
    made = planned(compose, "study=norm")
    assert list(made.arms) == ["norm=layernorm", "norm=rmsnorm", "norm=none"]
    assert made.seeds == list(range(8))
    assert made.name == "norm"


def test_more_seeds_add_trials_and_keep_the_others(compose: Compose) -> None:
    six, eight = (planned(compose, "study=norm", f"study.seeds={seeds}") for seeds in (6, 8))
    first, second = ({trial.id for trial in made.trials} for made in (six, eight))
    assert first < second
    assert len(second - first) == 2 * 3


def test_e5_a_knob_that_an_arm_does_not_have_makes_no_second_trial(compose: Compose) -> None:
    made = planned(compose, "position=rope,none", "position.base=1e4,1e5")
    assert len(made.arms) == len({trial.id for trial in made.trials}) == 3


def test_a_knob_that_is_set_for_all_holds_for_the_parts_that_have_it(compose: Compose) -> None:
    made = planned(compose, *held(["position=rope,none,sinusoidal", "position.base=100"]))
    bases = {label: arm.config["position"].get("base") for label, arm in made.arms.items()}
    assert bases == {"position=rope, position.base=100": 100.0, "position=none": None, "position=sinusoidal": 100.0}


def test_arms_that_are_the_same_share_a_trial(compose: Compose) -> None:
    made = planned(compose, "placement=none", "norm=layernorm,rmsnorm")
    assert len(made.arms) == 2
    assert len({trial.id for trial in made.trials}) == 1


def test_e14_the_model_seed_varies_alone(compose: Compose) -> None:
    made = planned(compose, "init_seed=0,1", "data_seed=0", "seed=0")
    assert len({trial.id for trial in made.trials}) == 2


def test_a_list_is_one_level(compose: Compose) -> None:
    made = planned(compose, "optimizer.betas=[0.9,0.95],[0.9,0.99]")
    assert len(made.arms) == 2


def test_names_tell_different_ad_hoc_studies_apart(compose: Compose) -> None:
    axis, other, deeper, slots = (
        planned(compose, *words).name
        for words in (
            ["norm=layernorm,rmsnorm"],
            ["norm=layernorm,none"],
            ["norm=layernorm,rmsnorm", "model.depth=1"],
            ["norm=layernorm,rmsnorm", "runtime.slots=1"],
        )
    )
    assert axis == slots
    assert len({axis, other, deeper}) == 3
    assert axis.startswith("norm-")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["norm=layernorm,rmsnorm", "norm=none"], "norm is given twice: norm=layernorm,rmsnorm and norm=none"),
        (["study=norm", "norm=none"], "norm is a factor of this study and on the command line too"),
        (["optimizer.lr=interval(0,1)"], "an interval has no levels"),
        (["+study.endpoints={val/los:final}"], r"no measure 'val/los' \(did you mean 'val/loss'\?\)"),
        (["+study.endpoints={val/loss:finl}"], r"no reduction 'finl' \(did you mean 'final'\?\)"),
        (["+study.factors={nrom:[a,b]}"], r"no setting of an arm 'nrom' \(did you mean 'norm'\?\)"),
        (["study.seeds=2,3"], "study.seeds makes no arms"),
        (["seed=7", "study.seeds=2"], "both say which seeds to run"),
        (["seed=0,0"], "are not all different"),
        (["seed=0,1", "init_seed=1", "data_seed=1"], "seed changes nothing"),
        (["batch_size=0"], "batch_size=0: must be at least 1"),
        (["runtime.slots=0"], "runtime.slots=0: must be at least 1"),
        (["data.validation=1.5"], "above 0 and below 1"),
        (["trainer.precision=16-mixed"], "take bf16-mixed"),
        (["optimizer=muon", "mixer=rnn", "ffn=none"], "optimizer=muon is for linear maps in layers"),
        (["+study.factors={seed:[1,2]}"], "seed is no factor"),
        (["+study.expect={nothing:{val/loss:lower}}"], "no arm 'nothing'"),
        (["study.design=factorail"], r"no design 'factorail' \(did you mean 'factorial'\?\)"),
        (["+study.expect={baseline:{val/loss:same}}"], "say within what: margin"),
        (["+study.expect={baseline:{val/loss:smaller}}"], "no expectation 'smaller'"),
    ],
)
def test_what_cannot_be_meant_is_refused(compose: Compose, words: list[str], sentence: str) -> None:
    with pytest.raises((ValueError, KeyError), match=sentence):
        for arm in planned(compose, *words).arms.values():
            arm.refuse_untrainable()


def test_an_impossible_arm_is_named(compose: Compose) -> None:
    with pytest.raises(ValueError, match="heads=3 does not divide width=16") as caught:
        planned(compose, "model.heads=2,3")
    assert caught.value.__notes__ == ["in the arm model.heads=3"]


@pytest.mark.parametrize("level", ["rmsnorm", "a b", "a,b", "o'brien", "x=1", "日本", 3, 0.001, True, None, [1, 2]])
def test_a33_a_level_reads_back_as_itself(level: object) -> None:
    (override,) = OverridesParser.create().parse_overrides([f"key={word(level)}"])
    value = override.value()
    assert (str(value) if isinstance(level, str) else value) == level
    assert not override.is_sweep_override()


def test_c7_a_combination_that_cannot_be_is_left_out_and_said_so(compose: Compose) -> None:
    made = planned(compose, "model.heads=2,3", "model.width=16,24")
    assert list(made.impossible) == ["model.heads=3"]
    assert "heads=3 does not divide width=16; heads that do: 1, 2, 4, 8, 16" in made.impossible["model.heads=3"]
    assert list(made.arms) == ["model.heads=2, model.width=16", "model.width=24", "model.heads=3, model.width=24"]
    assert "left out, as it cannot be built: model.heads=3: heads=3 does not" in announcement(made, 3)


@pytest.mark.parametrize("words", [("model.heads=2,3", "model.width=16"), ("model.heads=3,2", "model.width=16,24")])
def test_c7_a_level_that_works_nowhere_and_a_baseline_that_does_not_are_refused(
    compose: Compose, words: tuple[str, ...]
) -> None:
    with pytest.raises(ValueError, match="heads=3 does not divide width=16"):
        planned(compose, *words)


PAIRS = ("+study.factors={norm: [layernorm, none], ffn: [gelu, none], position: [rope, none]}",)


@pytest.mark.parametrize(
    ("design", "arms"),
    [
        (
            "leave_one_out",
            ["norm=layernorm, ffn=gelu, position=rope", "norm=none", "ffn=none", "position=none"],
        ),
        (
            "add_one_in",
            ["norm=none, ffn=none, position=none", "norm=layernorm", "ffn=gelu", "position=rope",
             "norm=layernorm, ffn=gelu, position=rope"],
        ),
        (
            "zip",
            ["norm=layernorm, ffn=gelu, position=rope", "norm=none, ffn=none, position=none"],
        ),
        (
            "fractional",
            ["norm=layernorm, ffn=gelu, position=rope", "ffn=none, position=none", "norm=none, position=none",
             "norm=none, ffn=none"],
        ),
    ],
)  # fmt: skip
def test_designs_make_these_arms(compose: Compose, design: str, arms: list[str]) -> None:
    made = planned(compose, f"study.design={design}", *PAIRS)
    assert sorted(made.arms) == sorted(arms)
    assert next(iter(made.arms)) == arms[0]


def test_a_fraction_says_what_it_cannot_tell_apart(compose: Compose) -> None:
    said = announcement(planned(compose, "study.design=fractional", *PAIRS), 4)
    assert "cannot tell apart: norm and ffn × position" in said
    assert "cannot tell apart" not in announcement(planned(compose, "study.design=factorial", *PAIRS), 8)


def test_a_design_takes_knobs(compose: Compose) -> None:
    four = "+study.factors={norm: [layernorm, none], ffn: [gelu, none], position: [rope, none], scale: [sqrt, none]}"
    assert len(planned(compose, "study.design={name: fractional, resolution: 4}", four).arms) == 8


def test_the_null_design_is_one_configuration_under_disjoint_seeds(compose: Compose) -> None:
    made = planned(compose, "study.design=null", "study.seeds=5")
    assert list(made.arms) == ["seed_offset=0", "seed_offset=1000000"]
    assert len({trial.id for trial in made.trials}) == 10
    seeds = [(t.config["seed"], t.config["init_seed"], t.config["data_seed"]) for t in made.trials[:2]]
    assert seeds == [(0, 0, 0), (0, 1_000_000, 1_000_000)]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("study.design=zip", "+study.factors={norm: [layernorm, none], ffn: [gelu, relu, none]}"), "as many levels"),
        (("study.design=leave_one_out", "+study.factors={ffn: [gelu, relu, none]}"), "takes two levels a factor"),
        (("study.design=fractional", "+study.factors={ffn: [gelu, none]}"), "a resolution of 3 to 1"),
        (("study.design=fractoinal",), r"there is no design 'fractoinal' \(did you mean 'fractional'"),
    ],
)
def test_designs_refuse_what_they_cannot_mean(compose: Compose, words: tuple[str, ...], sentence: str) -> None:
    with pytest.raises((ValueError, KeyError), match=sentence):
        planned(compose, *words)
