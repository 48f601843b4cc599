"""Common random numbers: a swapped part changes no other weight."""

from typing import Any

import pytest
import torch
from torch import nn

from components.example import COMPANIONS
from components.init import inits
from components.initialise import draw
from components.model import Decoder, assemble
from components.parts import Parts, Sizes
from components.registry import kinds

SIZES = Sizes(vocabulary=11, context=8, width=12, depth=2, heads=3)
SWAPS = [(kind, name) for kind, registry in kinds("components").items() for name in registry.names()]


def model(seed: int = 0, **parts: str) -> Decoder:
    config: dict[str, Any] = {kind: {"name": name} for kind, name in (COMPANIONS | parts).items()}
    return assemble(SIZES, Parts(config), seed)


@pytest.mark.parametrize(("kind", "name"), SWAPS, ids=[f"{kind}={name}" for kind, name in SWAPS])
def test_swapping_one_part_leaves_all_other_weights_bit_identical(kind: str, name: str) -> None:
    one, other = model(), model(0, **{kind: name})
    before, after = one.state_dict(), other.state_dict()
    shared = [weight for weight in before if weight in after and before[weight].shape == after[weight].shape]
    assert "embedding.weight" in shared
    for weight in shared:
        pair = before[weight], after[weight]
        if kind == "init" or gain(one, weight) != gain(other, weight):  # the factor that such a part declares
            torch.testing.assert_close(pair[1] * pair[0].norm(), pair[0] * pair[1].norm())
        else:
            assert torch.equal(*pair), weight


def gain(model: Decoder, weight: str) -> object:
    return getattr(model.get_submodule(weight.rpartition(".")[0]), "gain", 1.0) if weight.endswith("weight") else 1.0


def test_seeds_differ_and_repeat() -> None:
    assert torch.equal(model(0).embedding.weight, model(0).embedding.weight)
    assert not torch.equal(model(0).embedding.weight, model(1).embedding.weight)


def test_weights_do_not_depend_on_the_global_generator() -> None:
    torch.manual_seed(1)
    before = model().state_dict()
    torch.manual_seed(2)
    assert all(torch.equal(before[name], value) for name, value in model().state_dict().items())


def test_drawing_leaves_the_global_generator_alone() -> None:
    module = nn.Sequential(nn.Linear(3, 4), nn.LayerNorm(4))
    state = torch.get_rng_state()
    draw(module, seed=0)
    assert torch.equal(state, torch.get_rng_state())


def test_any_module_has_common_random_numbers() -> None:
    small: Any = nn.ModuleDict({"a": nn.Linear(3, 4), "b": nn.LSTM(4, 5)})
    large = nn.ModuleDict({"a": nn.Linear(3, 4), "new": nn.Conv1d(2, 2, 1), "b": nn.LSTM(4, 5)})
    draw(small, seed=3)
    draw(large, seed=3)
    assert all(torch.equal(value, large.state_dict()[name]) for name, value in small.state_dict().items())
    assert float(small["a"].weight.detach().abs().max()) <= 3**-0.5  # torch's own law: uniform within 1/√fan_in


def test_a_parameter_that_nothing_draws_is_refused() -> None:
    module = nn.Module()
    module.free = nn.Parameter(torch.randn(3))
    with pytest.raises(ValueError, match=r"'free'.*reset_parameters"):
        draw(module, seed=0)


@pytest.mark.parametrize(("part", "deviation"), [("embedding", 0.5), ("layers.0.ffn.branch.up", 64**-0.5)])
def test_standard_deviations_are_those_of_the_roles(part: str, deviation: float) -> None:
    sizes = Sizes(vocabulary=500, context=8, width=64, depth=2, heads=4)
    config: dict[str, Any] = {kind: {"name": name} for kind, name in COMPANIONS.items()}
    weight = assemble(sizes, Parts(config), 0).get_submodule(part).weight
    assert isinstance(weight, torch.Tensor)
    assert float(weight.detach().std()) == pytest.approx(deviation, rel=0.02)


@pytest.mark.parametrize(("mixer", "gates"), [("rnn", 1), ("gru", 3), ("lstm", 4)])
def test_an_init_reaches_every_gate_of_a_recurrent_cell(mixer: str, gates: int) -> None:
    sizes = Sizes(vocabulary=11, context=8, width=96, depth=1, heads=1)
    config: dict[str, Any] = {kind: {"name": name} for kind, name in (COMPANIONS | {"mixer": mixer}).items()}
    for init, deviation in (("xavier", 96**-0.5), ("gpt2", 0.02)):
        weights = assemble(sizes, Parts(config | {"init": {"name": init}}), 0).state_dict()
        for which in ("ih", "hh"):
            weight = weights[f"layers.0.mixer.branch.cell.weight_{which}_l0"]
            assert weight.shape == (gates * 96, 96)
            assert float(weight.std()) == pytest.approx(deviation, rel=0.03)
            bias = weights[f"layers.0.mixer.branch.cell.bias_{which}_l0"]
            forget = torch.zeros_like(bias)
            forget[96:192] = float(mixer == "lstm" and which == "ih")
            assert torch.equal(bias, forget)


def test_an_init_reaches_torchs_own_modules() -> None:
    linear, table = nn.Linear(200, 300), nn.Embedding(300, 200)
    cell: Any = nn.LSTM(200, 100)
    draw(nn.ModuleList([linear, table, cell]), 0, inits["xavier"](1))
    deviations = {linear.weight: (2 / 500) ** 0.5, table.weight: 0.5, cell.weight_ih_l0: (2 / 300) ** 0.5}
    for weight, deviation in deviations.items():
        assert float(weight.detach().std()) == pytest.approx(deviation, rel=0.02)
    assert not linear.bias.any() and not cell.bias_hh_l0.any()


def test_writers_start_smaller_with_depth() -> None:
    sizes = Sizes(vocabulary=11, context=8, width=128, depth=8, heads=4)
    config: dict[str, Any] = {kind: {"name": name} for kind, name in COMPANIONS.items()}
    down = assemble(sizes, Parts(config), 0).get_submodule("layers.3.ffn.branch.down").weight
    assert isinstance(down, torch.Tensor)
    assert float(down.detach().std()) == pytest.approx((2 * 8 * 512) ** -0.5, rel=0.02)
