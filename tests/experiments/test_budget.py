"""Costs are counted right, and arms are brought to the baseline's."""

from collections.abc import Callable

import pytest
import torch
from hydra.core.override_parser.overrides_parser import OverridesParser
from omegaconf import DictConfig

from components.example import COMPANIONS
from components.model import assemble
from components.parts import Parts, Sizes
from experiments.budget import training_flops
from experiments.study import Plan, plan

Compose = Callable[..., DictConfig]


def planned(compose: Compose, *words: str) -> Plan:
    return plan(OverridesParser.create().parse_overrides(list(words)), lambda lines: compose(*lines))


@pytest.mark.parametrize("width", [64, 128])
def test_m2_training_flops_are_six_a_weight_and_twelve_a_pair_of_tokens(width: int) -> None:
    sizes = Sizes(vocabulary=50, context=32, width=width, depth=3, heads=4)
    with torch.device("meta"):
        model = assemble(sizes, Parts({kind: {"name": name} for kind, name in COMPANIONS.items()}), 0)
    weights = 3 * 12 * width**2 + 50 * width  # in matrix products: layers and readout
    assert training_flops(model) == 6 * weights + 12 * 3 * width * 32


@pytest.mark.parametrize("budget", ["parameters", "flops"])
@pytest.mark.parametrize("width", [64, 100, 768])
def test_c14_ffns_are_matched_within_one_percent_at_any_width(compose: Compose, width: int, budget: str) -> None:
    sizes = [f"model.width={width}", "model.heads=2"]
    made = planned(compose, f"budget={budget}", "ffn=gelu,swiglu,geglu,relu,none", *sizes)
    costs = {label: arm.parameters if budget == "parameters" else arm.flops for label, arm in made.arms.items()}
    for ffn in ("swiglu", "geglu", "relu"):
        assert costs[f"ffn={ffn}"] == pytest.approx(costs["ffn=gelu"], rel=0.01)
    assert costs["ffn=none"] < 0.9 * costs["ffn=gelu"]
    assert made.arms["ffn=relu"].config["ffn"]["expansion"] == 4.0, "what is near enough keeps its width"


def test_a_narrow_network_is_widened_until_it_matches(compose: Compose) -> None:
    made = planned(compose, "budget=parameters", "mixer=attention,none", "model.width=64")
    assert made.arms["mixer=none"].parameters == pytest.approx(made.arms["mixer=attention"].parameters, rel=0.01)
    assert made.arms["mixer=none"].config["ffn"]["expansion"] > 5


def test_a_budget_that_is_none_gets_a_sentence(compose: Compose) -> None:
    with pytest.raises(ValueError, match=r"no budget 'flop' \(did you mean 'flops'\?\)"):
        planned(compose, "budget=flop", "norm=layernorm,rmsnorm")


def test_single_layers_change_and_others_stay(compose: Compose) -> None:
    made = planned(compose, "layers=null,{1:{ffn:none}},{0:{ffn:none}}")
    sizes = [arm.parameters for arm in made.arms.values()]
    assert sizes[0] > sizes[1] == sizes[2]
    assert len({trial.id for trial in made.trials}) == 3


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("layers={2:{ffn:none}}", r"layers.2: the model has layers 0 to 1 \(model.depth=2\)"),
        ("layers={0:{fnn:none}}", r"no kind of which each layer has its own 'fnn' \(did you mean 'ffn'\?\)"),
        ("layers={0:{position:none}}", "no kind of which each layer has its own 'position'"),
        ("layers={0:{ffn:swigul}}", r"no ffn 'swigul' \(did you mean 'swiglu'\?\)"),
    ],
)
def test_changes_that_no_layer_can_take_are_refused(compose: Compose, words: str, sentence: str) -> None:
    with pytest.raises((ValueError, KeyError), match=sentence):
        planned(compose, words)
