"""Laws and values of whole models: what a stack of parts computes, counts and keeps."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.utils.flop_counter import FlopCounterMode

from components.attention import attentions
from components.example import COMPANIONS
from components.mixer import mixers
from components.model import Decoder, assemble
from components.parts import Parts, Sizes
from components.scale import scales
from tests import reference

SIZES = Sizes(vocabulary=11, context=16, width=12, depth=2, heads=3)


def parts(**chosen: Any) -> Parts:
    named = {kind: {"name": name} for kind, name in COMPANIONS.items()}
    return Parts(named | {kind: part if isinstance(part, dict) else {"name": part} for kind, part in chosen.items()})


def test_a_pre_ln_block_is_the_formula_in_float64() -> None:
    block = assemble(SIZES, parts(), 0).double().layers[0]
    x = torch.randn(1, 7, 12, dtype=torch.double, generator=torch.Generator().manual_seed(0))
    weights = {name: value.numpy() for name, value in block.state_dict().items()}
    found = block(x, parts()["position"](SIZES))[0].detach().numpy()
    np.testing.assert_allclose(found, reference.block(x[0].numpy(), weights, 3, 1e-5), rtol=1e-12, atol=1e-12)


def test_a6_unscaled_weights_saturate_even_scaled_attention() -> None:
    """X, W_q and W_k out of N(0, 1), four tokens of width 8: the last row is nearly one-hot all the same."""
    draws = np.random.RandomState(42)
    x, query, key = (draws.randn(rows, 8) for rows in (4, 8, 8))
    scale: Any = scales["sqrt"](8)
    q, k = scale(torch.from_numpy(x @ query)), torch.from_numpy(x @ key)
    weights: Any = attentions["softmax"]()
    last = weights.weights(q[None, None], k[None, None], None)[0, 0, -1]
    np.testing.assert_allclose(last.numpy(), [0.00128230, 0.93732481, 0.01553831, 0.04585458], atol=5e-9)
    assert float(torch.special.entr(last).sum()) / math.log(4) == pytest.approx(0.19855, rel=1e-4)


@pytest.mark.parametrize("name", ["sqrt"])
def test_a6_logits_of_unit_weights_have_the_width_as_deviation(name: str) -> None:
    generator = torch.Generator().manual_seed(0)
    x, query, key = (torch.randn(4000, *shape, 8, generator=generator) for shape in ((4,), (8,), (8,)))
    logits = scales[name](8)(x @ query) @ (x @ key).transpose(-2, -1)
    assert float(logits.std()) == pytest.approx(8, rel=0.05)


@pytest.mark.parametrize(("width", "depth", "tokens"), [(48, 2, 32), (96, 3, 16)])
def test_b7_attention_costs_the_square_of_the_sequence(width: int, depth: int, tokens: int) -> None:
    sizes = Sizes(vocabulary=50, context=tokens, width=width, depth=depth, heads=4)
    with torch.device("meta"):
        model = assemble(sizes, parts(), 0)
    with FlopCounterMode(display=False) as counter:
        model(torch.zeros(1, tokens, dtype=torch.long, device="meta"))
    linear, square = 24 * depth * width**2 * tokens + 2 * tokens * width * 50, 4 * depth * tokens**2 * width
    assert counter.get_total_flops() == linear + square


def diversity(states: list[Tensor]) -> list[float]:
    """‖X − 1 x̄ᵀ‖ / ‖X‖ of each state: 0 where all tokens are the same."""
    return [float(((x - x.mean(-2, keepdim=True)).norm() / x.norm()).detach()) for x in states]


def stack(residual: str) -> list[Tensor]:
    """The states of 12 layers of attention alone, both ways, at initialisation."""
    sizes = Sizes(vocabulary=200, context=32, width=64, depth=12, heads=4)
    chosen = parts(ffn="none", residual=residual, placement="none", mask="full", init={"name": "fan_in"} | UNIT)
    tokens = torch.randint(200, (1, 32), generator=torch.Generator().manual_seed(0))
    return assemble(sizes, chosen, 0).double().states(tokens)


UNIT = {"embedding": 1.0}


def test_e1_attention_alone_loses_its_rank_doubly_exponentially_and_the_residual_keeps_it() -> None:
    alone, kept = diversity(stack("none")), diversity(stack("add"))
    assert alone[1] == pytest.approx(0.83, abs=0.02)
    assert alone[2] < 5e-3 and alone[3] < 1e-6
    assert math.log(alone[3]) / math.log(alone[2]) > 2, "each layer raises the rest to a power"
    assert min(kept) > 0.97


def test_f3_lemma_2_the_pre_ln_stream_grows_by_between_a_half_and_three_halves_a_layer() -> None:
    """Xiong et al. 2020, lemma 2, in its setting: uniform attention of one head, a square ReLU network, Xavier."""
    sizes = Sizes(vocabulary=500, context=32, width=64, depth=12, heads=1)
    chosen = parts(init={"name": "xavier"} | UNIT, ffn={"name": "relu", "expansion": 1.0})
    squares = []
    for seed in range(8):
        model = assemble(sizes, chosen, seed)
        for name, weight in model.named_parameters():
            if "query" in name or "key" in name:
                nn.init.zeros_(weight)
        tokens = torch.randint(500, (4, 32), generator=torch.Generator().manual_seed(seed))
        squares.append(torch.stack([state.detach().square().mean() for state in model.states(tokens)]))
    for layer, square in enumerate(torch.stack(squares).mean(0).tolist()):
        assert 1 + layer / 2 - 0.02 <= square <= 1 + 3 * layer / 2 + 0.02


def test_l3_one_layer_of_attention_alone_is_a_bigram_and_a_sum_of_skip_trigrams() -> None:
    """logits = W_U W_E + Σ_h A_h ⊗ W_U W_O,h W_V,h W_E (Elhage et al. 2021), without norms."""
    sizes = Sizes(vocabulary=11, context=16, width=12, depth=1, heads=3)
    model: Any = assemble(sizes, parts(ffn="none", placement="none"), 0).double()
    tokens = torch.tensor([[1, 5, 2, 9, 3]])
    mixer = model.layers[0].mixer.branch
    embedded, unembed = model.embedding.weight[tokens[0]], model.readout.linear.weight
    q, k, _ = mixer.projection(model.embedding(tokens))
    patterns = mixer.attention.weights(mixer.scale(q), k, None)[0]
    logits = embedded @ unembed.T
    for head, pattern in enumerate(patterns):
        rows = slice(4 * head, 4 * head + 4)
        circuit = unembed @ mixer.output.weight[:, rows] @ mixer.projection.value.weight[rows]
        logits = logits + pattern @ embedded @ circuit.T
    torch.testing.assert_close(model(tokens)[0], logits)


@pytest.mark.parametrize(("name", "theirs"), [("rnn", nn.RNN), ("gru", nn.GRU), ("lstm", nn.LSTM)])
def test_recurrent_mixers_are_torchs(name: str, theirs: Callable[..., nn.Module]) -> None:
    ours: Any = mixers[name](SIZES, parts())
    twin: Any = theirs(12, 12, batch_first=True)
    twin.load_state_dict(ours.cell.state_dict())
    x = torch.randn(2, 5, 12, generator=torch.Generator().manual_seed(0))
    assert torch.equal(ours(x, parts()["position"](SIZES)), twin(x)[0])


def test_softmax_attention_is_torchs_with_every_kind_of_mask() -> None:
    q, k, v = (torch.randn(2, 3, 5, 4, generator=torch.Generator().manual_seed(i)) for i in range(3))
    core = attentions["softmax"]()
    theirs = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True, scale=1.0)
    torch.testing.assert_close(core(q, k, v, None), theirs)
    bias = torch.randn(1, 3, 5, 5, generator=torch.Generator().manual_seed(3))
    theirs = nn.functional.scaled_dot_product_attention(q, k, v, bias, scale=1.0)
    torch.testing.assert_close(core(q, k, v, bias), theirs)


@pytest.mark.filterwarnings("ignore:.*script_method:DeprecationWarning")  # of torch, as it loads inductor
@pytest.mark.parametrize("changed", [{}, {"attention": "linear", "position": "alibi"}, {"mixer": "mingru"}])
def test_c32_an_inductor_compiled_model_agrees_in_value_and_gradient_and_saves_the_same_names(
    changed: dict[str, str],
) -> None:
    torch.compiler.reset()
    plain, compiled = (assemble(SIZES, parts(**changed), 0) for _ in range(2))
    names = list(plain.state_dict())
    compiled.compile()
    tokens = torch.arange(10).view(2, 5)
    for model in (plain, compiled):
        nn.functional.cross_entropy(model(tokens).flatten(0, 1), tokens.flatten()).backward()
    torch.testing.assert_close(compiled(tokens), plain(tokens), rtol=1e-5, atol=1e-5)
    for a, b in zip(plain.parameters(), compiled.parameters(), strict=True):
        torch.testing.assert_close(b.grad, a.grad, rtol=1e-4, atol=1e-6)
    assert list(compiled.state_dict()) == names


def leaks(model: Decoder) -> bool:
    tokens = torch.arange(10)[None] % 11
    changed = tokens.clone()
    changed[0, 6:] = 10
    return not torch.equal(model(tokens)[:, :6], model(changed)[:, :6])


@pytest.mark.parametrize("mixer", mixers.names())
def test_c1_no_mixer_lets_a_model_see_its_future(mixer: str) -> None:
    assert not leaks(assemble(SIZES, parts(mixer=mixer), 0))


def test_c1_batches_do_not_mix() -> None:
    model = assemble(SIZES, parts(position="rope"), 0).double()
    first, second = torch.arange(5)[None], torch.arange(5, 10)[None]
    torch.testing.assert_close(model(torch.cat([first, second]))[:1], model(first))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("name", attentions.names())
def test_c1_a_row_that_sees_nothing_is_zero_forward_and_finite_backward(name: str, dtype: torch.dtype) -> None:
    q, k, v = (
        torch.randn(1, 1, 3, 4, dtype=dtype, generator=torch.Generator().manual_seed(i)).requires_grad_()
        for i in range(3)
    )
    bias = torch.zeros(1, 1, 3, 3, dtype=dtype).index_fill(-2, torch.tensor([1]), -torch.inf)
    y = attentions[name]()(q, k, v, bias)
    y.square().sum().backward()
    assert not y[..., 1, :].any()
    assert all(each.grad is not None and bool(each.grad.isfinite().all()) for each in (q, k, v))


def test_c3_decoding_token_by_token_is_the_full_pass() -> None:
    model = assemble(SIZES, parts(position="rope"), 0).double()
    tokens = torch.tensor([[1, 5, 2, 9, 3]])
    steps = [model(tokens[:, : end + 1])[:, -1] for end in range(5)]
    torch.testing.assert_close(torch.stack(steps, 1), model(tokens))


def test_c4_attention_drops_while_training_and_never_after() -> None:
    model = assemble(SIZES, parts(attention={"name": "softmax", "dropout": 0.5}), 0)
    tokens = torch.arange(10)[None]
    torch.manual_seed(0)
    assert not torch.equal(model(tokens), model(tokens))
    model.eval()
    assert torch.equal(model(tokens), model(tokens))
