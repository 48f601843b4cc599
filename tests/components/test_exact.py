"""Values and laws that are known exactly."""

import math
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from components.attention import attentions
from components.attention.softmax import Softmax
from components.example import COMPANIONS
from components.ffn import ffns
from components.mask import additive, masks
from components.mixer import mixers
from components.mixer.attention import MultiHead
from components.model import assemble
from components.norm.rmsnorm import RMSNorm
from components.parts import Parts, Sizes
from components.position import positions
from components.position.rope import RoPE
from components.position.sinusoidal import waves
from components.projection import projections
from components.scale import scales
from tests import reference

SIZES = Sizes(vocabulary=11, context=16, width=12, depth=2, heads=3)


def parts(**chosen: Any) -> Parts:
    named = {kind: {"name": name} for kind, name in COMPANIONS.items()}
    return Parts(named | {kind: part if isinstance(part, dict) else {"name": part} for kind, part in chosen.items()})


def test_m1_gpt2_small_has_124_439_808_parameters() -> None:
    biased = {
        "mixer": {"name": "attention", "bias": True}, "projection": {"name": "separate", "bias": True},
        "ffn": {"name": "gelu", "bias": True}, "readout": "tied", "position": "learned",
    }  # fmt: skip
    sizes = Sizes(vocabulary=50257, context=1024, width=768, depth=12, heads=12)
    with torch.device("meta"):
        model = assemble(sizes, parts(**biased), 0)
    assert sum(p.numel() for p in model.parameters()) == 124_439_808


@pytest.mark.parametrize("heads", [1, 2, 4, 6, 12])
def test_d1_heads_change_no_parameter_count(heads: int) -> None:
    def count(heads: int) -> int:
        sizes = Sizes(vocabulary=11, context=16, width=12, depth=2, heads=heads)
        return sum(p.numel() for p in assemble(sizes, parts(), 0).parameters())

    assert count(heads) == count(1)


def test_attention_is_the_formula_in_float64() -> None:
    mixer: Any = MultiHead(SIZES, parts()).double()
    x = torch.randn(1, 5, 12, dtype=torch.double, generator=torch.Generator().manual_seed(0))
    maps = (mixer.projection.query, mixer.projection.key, mixer.projection.value, mixer.output)
    query, key, value, output = (each.weight.detach().numpy() for each in maps)
    wanted = reference.attention(x[0].numpy(), query, key, value, output, heads=3)
    found = mixer(x, parts()["position"](SIZES))[0].detach().numpy()
    np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-12)


def test_f1_rmsnorm_is_torchs_and_layernorm_is_rmsnorm_of_the_centred() -> None:
    x = torch.randn(4, 12, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(RMSNorm(12)(x), nn.RMSNorm(12, eps=1e-5)(x))
    torch.testing.assert_close(nn.LayerNorm(12)(x), RMSNorm(12)(x - x.mean(-1, keepdim=True)))
    np.testing.assert_allclose(
        nn.LayerNorm(12)(x).detach().numpy(), reference.layernorm(x.numpy(), 1e-5), rtol=1e-4, atol=1e-6
    )


@pytest.mark.parametrize("value", [1e-4, 1e4])
def test_c11_rmsnorm_takes_its_statistics_in_float32(value: float) -> None:
    x = torch.full((2, 64), value, dtype=torch.bfloat16)
    norm = RMSNorm(64, eps=1e-12).bfloat16()
    assert norm(x).dtype is torch.bfloat16
    torch.testing.assert_close(norm(x).float(), torch.ones(2, 64), rtol=1e-2, atol=0)


def test_h5_sinusoids_move_by_rotation() -> None:
    table, width, step = waves(64, 16, 10_000.0).double(), 16, 7
    frequency = 10_000.0 ** (-torch.arange(0, width, 2).double() / width)
    assert torch.allclose(table.square().sum(-1), torch.tensor(width / 2).double(), atol=1e-5)
    products = (table[:-step] * table[step:]).sum(-1)
    assert torch.allclose(products, (frequency * step).cos().sum(), atol=1e-4)


def test_c8_sinusoids_take_an_odd_width() -> None:
    assert waves(3, 7, 10_000.0).shape == (3, 7)
    torch.testing.assert_close(waves(3, 7, 10_000.0)[:, -1], (torch.arange(3) * 10_000.0 ** (-6 / 7)).sin())


def test_h6_rope_sees_distances_only_and_keeps_lengths() -> None:
    rope = RoPE(Sizes(vocabulary=2, context=32, width=8, depth=1, heads=1))
    q, k = (torch.randn(8, generator=torch.Generator().manual_seed(i)) for i in (0, 1))
    turned_q, turned_k = (rope.rotate(x.expand(1, 1, 32, 8)) for x in (q, k))
    products = turned_q[0, 0] @ turned_k[0, 0].T
    for distance in (-5, 0, 9):
        along = products.diagonal(distance)
        torch.testing.assert_close(along, along[:1].expand_as(along), rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(turned_q.norm(dim=-1), q.norm().expand(1, 1, 32))


def test_c29_rope_keeps_float32_phases_in_bfloat16() -> None:
    rope = RoPE(Sizes(vocabulary=2, context=2048, width=8, depth=1, heads=1))
    x = torch.ones(1, 1, 2048, 8)
    torch.testing.assert_close(rope.rotate(x.bfloat16()).float(), rope.rotate(x), rtol=0.02, atol=0.02)


@pytest.mark.parametrize("width", [4, 64, 1024])
def test_a1_dot_products_of_unit_entries_have_variance_k_and_the_scale_makes_it_one(width: int) -> None:
    q, k = (torch.randn(200_000, width, generator=torch.Generator().manual_seed(i)) for i in (0, 1))
    assert float((q * k).sum(-1).std()) == pytest.approx(width**0.5, rel=0.01)
    assert float((scales["sqrt"](width)(q) * k).sum(-1).std()) == pytest.approx(1.0, rel=0.01)


def test_a2_unscaled_attention_loses_its_entropy_as_heads_widen() -> None:
    def entropy(deviation: float) -> float:
        logits = deviation * torch.randn(4000, 64, generator=torch.Generator().manual_seed(0))
        return float(torch.special.entr(logits.softmax(-1)).sum(-1).mean()) / math.log(64)

    assert entropy(1.0) == pytest.approx(0.886, abs=0.005)
    found = [entropy(width**0.5) for width in (4, 16, 64, 256, 1024)]
    assert found == pytest.approx([0.64, 0.32, 0.14, 0.064, 0.030], abs=0.015)


def test_a4_at_init_starts_where_sqrt_starts() -> None:
    tokens = torch.arange(9)[None]
    scaled, compensated = (assemble(SIZES, parts(scale=name), 0)(tokens) for name in ("sqrt", "at_init"))
    torch.testing.assert_close(scaled, compensated)
    assert not torch.allclose(scaled, assemble(SIZES, parts(scale="none"), 0)(tokens), atol=1e-3)


def test_a7_the_entropy_of_attention_has_its_bound_and_attains_it() -> None:
    tokens, norm = 16, 3.0
    b = math.exp(-norm * math.sqrt(tokens / (tokens - 1)))
    share = (tokens - 1) * b
    bound = math.log(1 + share) + norm * math.sqrt(tokens * (tokens - 1)) * b / (1 + share)

    def entropy(logits: torch.Tensor) -> torch.Tensor:
        return torch.special.entr(logits.softmax(-1)).sum(-1)

    rows = torch.randn(5000, tokens, dtype=torch.double, generator=torch.Generator().manual_seed(0))
    assert float(entropy(norm * rows / rows.norm(dim=-1, keepdim=True)).min()) >= bound
    up = torch.full((tokens,), -1 / (tokens - 1), dtype=torch.double)
    up[0] = 1.0
    assert float(entropy(norm * up / up.norm())) == pytest.approx(bound, abs=1e-12)


def test_b2_raw_attention_looks_at_itself() -> None:
    x = torch.randn(400, 32, 64, generator=torch.Generator().manual_seed(0))
    scores = x @ x.transpose(-2, -1)
    assert torch.equal(scores, scores.transpose(-2, -1)) or torch.allclose(scores, scores.transpose(-2, -1), atol=1e-4)
    shares = (scores / 8).softmax(-1).diagonal(dim1=-2, dim2=-1)
    assert float(shares.mean()) == pytest.approx(0.967, abs=0.01)
    assert float((scores.argmax(-1) == torch.arange(32)).float().mean()) > 0.999


def test_c3_a_mask_of_minus_a_billion_leaks_where_all_is_hidden_and_ours_does_not() -> None:
    leaking = torch.full((1, 4), -1e9).softmax(-1)
    assert torch.allclose(leaking, torch.full((1, 4), 0.25))
    assert torch.tensor(-1e9).half().isinf()
    q, k, v = (torch.randn(1, 1, 3, 4, generator=torch.Generator().manual_seed(i)) for i in range(3))
    hidden = torch.full((1, 1, 3, 3), -torch.inf)
    for name in attentions.names():
        assert not attentions[name]()(q, k, v, hidden).any(), name


@pytest.mark.parametrize("name", ["none", "rope", "alibi", "t5", "sinusoidal", "learned"])
def test_c2_padding_on_the_left_changes_nothing_that_it_should_not(name: str) -> None:
    model = assemble(SIZES, parts(position=name, mask="causal"), 0)
    short, other = torch.tensor([[1, 2, 3]]), torch.tensor([[1, 2, 3, 9, 9]])
    torch.testing.assert_close(model(short), model(other)[:, :3])


def test_c5_no_core_scales_on_its_own() -> None:
    q, k, v = (
        torch.randn(1, 2, 5, 4, dtype=torch.double, generator=torch.Generator().manual_seed(i)) for i in range(3)
    )
    lower = np.tril(np.ones((5, 5), dtype=bool))
    scores = np.where(lower, q.numpy() @ k.numpy().swapaxes(-1, -2), -np.inf)
    found = attentions["softmax"]()(q, k, v, None).numpy()
    np.testing.assert_allclose(found, reference.softmax(scores) @ v.numpy(), rtol=1e-9, atol=1e-12)


def test_d4_a_head_cannot_have_more_rank_than_width() -> None:
    q, k = (torch.randn(32, 4, dtype=torch.double, generator=torch.Generator().manual_seed(i)) for i in (0, 1))
    assert int(torch.linalg.matrix_rank(q @ k.T)) == 4


def test_f1_norms_ignore_scale_and_layernorm_shift() -> None:
    x = torch.randn(4, 12, dtype=torch.double, generator=torch.Generator().manual_seed(0))
    layer, rms = nn.LayerNorm(12, eps=0, dtype=torch.double), RMSNorm(12, eps=0).double()
    torch.testing.assert_close(layer(3 * x + 5), layer(x))
    torch.testing.assert_close(rms(3 * x), rms(x), rtol=1e-5, atol=1e-5)
    assert not torch.allclose(rms(x + 5), rms(x))
    ranks = [int(torch.linalg.matrix_rank(jacobian_of(norm, x[0]))) for norm in (layer, rms)]
    assert ranks == [10, 11]


def jacobian_of(norm: nn.Module, x: torch.Tensor) -> torch.Tensor:
    found: Any = torch.autograd.functional.jacobian(norm, x)
    return found


def test_f7_a_key_within_the_hull_of_others_is_never_the_best_until_it_is_normalised() -> None:
    keys = torch.tensor([[2.0, 1.0], [-1.0, 2.0], [0.0, -2.0], [0.1, 0.2]])
    queries = torch.randn(5000, 2, generator=torch.Generator().manual_seed(0))
    assert 3 not in (queries @ keys.T).argmax(-1).unique()
    assert 3 in (queries @ RMSNorm(2)(keys).detach().T).argmax(-1).unique()


def test_g5_ffns_treat_each_token_alone_and_hold_two_thirds_of_a_layer() -> None:
    x, order = torch.randn(1, 6, 12, generator=torch.Generator().manual_seed(0)), torch.tensor([3, 1, 5, 0, 2, 4])
    for name in ffns.names():
        ffn = ffns[name](12)
        torch.testing.assert_close(ffn(x[:, order]), ffn(x)[:, order])
    layer = [p.numel() for p in assemble(SIZES, parts(), 0).layers[0].parameters() if p.ndim == 2]
    assert sum(p.numel() for p in ffns["gelu"](12).parameters()) / sum(layer) == pytest.approx(2 / 3)


def test_h1_both_ways_without_positions_a_permutation_is_only_carried_along() -> None:
    model = assemble(SIZES, parts(mask="full"), 0).double()
    tokens, order = torch.tensor([[1, 5, 2, 9]]), torch.tensor([2, 0, 3, 1])
    torch.testing.assert_close(model(tokens[:, order]), model(tokens)[:, order])


def test_h2_causal_without_positions_one_layer_knows_no_order_and_two_do() -> None:
    tokens, swapped = torch.tensor([[1, 5, 2, 9]]), torch.tensor([[5, 2, 1, 9]])

    def last(depth: int) -> float:
        sizes = Sizes(vocabulary=11, context=16, width=12, depth=depth, heads=3)
        model = assemble(sizes, parts(), 0).double()
        return float((model(tokens) - model(swapped))[:, -1].detach().abs().max())

    assert last(1) < 1e-12
    assert last(2) > 1e-3


def test_i1_an_lstm_forgets_as_its_bias_says() -> None:
    cell: Any = mixers["lstm"](SIZES, parts(), forget_bias=3.0).cell
    assert torch.equal(cell.bias_ih_l0[12:24], torch.full((12,), 3.0))
    assert not cell.bias_hh_l0[12:24].any()
    for parameter in cell.parameters():
        nn.init.zeros_(parameter)
    cell.bias_ih_l0.data[12:24] = 3.0
    _, (_, memory) = cell(torch.zeros(1, 100, 12), (torch.zeros(1, 1, 12), torch.ones(1, 1, 12)))
    assert memory[0, 0, 0].item() == pytest.approx(7.8e-3, rel=0.02)


def test_mingru_in_parallel_is_its_recurrence() -> None:
    mixer: Any = mixers["mingru"](SIZES, parts())
    x = torch.randn(1, 7, 12, generator=torch.Generator().manual_seed(0))
    gate, candidate = mixer.gate(x).sigmoid(), mixer.candidate(x)
    positive, state, states = torch.where(candidate >= 0, candidate + 0.5, candidate.sigmoid()), torch.zeros(1, 12), []
    for t in range(7):
        state = (1 - gate[:, t]) * state + gate[:, t] * positive[:, t]
        states.append(state)
    torch.testing.assert_close(mixer(x, parts()["position"](SIZES)), mixer.output(torch.stack(states, 1)))


def test_m3_one_pass_has_the_losses_of_all_prefixes() -> None:
    model = assemble(SIZES, parts(position="rope"), 0).double()
    tokens = torch.tensor([[1, 5, 2, 9, 3]])
    whole = model(tokens)
    for length in range(1, 6):
        torch.testing.assert_close(model(tokens[:, :length])[:, -1], whole[:, length - 1])


def test_masks_hide_what_they_say() -> None:
    window = masks["window"](size=2)(4, 4, torch.device("cpu")).int().tolist()
    assert window == [[1, 0, 0, 0], [1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]]
    strided = masks["strided"](stride=2)(5, 5, torch.device("cpu")).int().tolist()
    assert strided[4] == [1, 0, 1, 1, 1]


def test_alibi_has_the_slopes_of_its_paper() -> None:
    bias = positions["alibi"](Sizes(vocabulary=2, context=4, width=8, depth=1, heads=8)).bias(3, torch.device("cpu"))
    assert bias is not None
    assert (-bias[0, :, 1, 0]).tolist() == [2.0**-h for h in range(1, 9)]
    assert torch.equal(bias[0, 0, 2], torch.tensor([-1.0, -0.5, 0.0]))


def test_alibi_of_other_numbers_of_heads_has_the_slopes_of_the_next_lower_power_first() -> None:
    def exponents(heads: int) -> list[float]:
        sizes = Sizes(vocabulary=2, context=4, width=heads, depth=1, heads=heads)
        bias = positions["alibi"](sizes).bias(2, torch.device("cpu"))
        assert bias is not None
        return (-(-bias[0, :, 1, 0]).log2()).tolist()

    assert exponents(1) == [8.0]
    assert exponents(3) == [4.0, 8.0, 2.0]
    assert exponents(6) == [2.0, 4.0, 6.0, 8.0, 1.0, 3.0]
    assert exponents(12) == pytest.approx([*range(1, 9), 0.5, 1.5, 2.5, 3.5])


def test_a_first_norm_stands_before_the_layers_and_embeddings_may_be_scaled_by_the_root_of_the_width() -> None:
    tokens = torch.arange(6)[None]
    plain, scaled = (
        assemble(SIZES, parts(readout={"name": "tied", "scaled": each}, placement="none"), 0) for each in (False, True)
    )
    torch.testing.assert_close(scaled.states(tokens)[0], 12**0.5 * plain.states(tokens)[0])
    assert torch.equal(scaled.embedding.weight, plain.embedding.weight)
    normed = assemble(SIZES, parts(placement={"name": "pre", "first": True}), 0).states(tokens)[0]
    torch.testing.assert_close(normed, nn.functional.layer_norm(plain.states(tokens)[0], (12,)))


def test_gelu_approximated_by_tanh_is_its_formula() -> None:
    x = torch.linspace(-4, 4, 99, dtype=torch.double)
    by_tanh = x / 2 * (1 + ((2 / math.pi) ** 0.5 * (x + 0.044715 * x**3)).tanh())
    for name in ("gelu", "geglu"):
        ffn: Any = ffns[name](12, approximate="tanh")
        torch.testing.assert_close(ffn.activation(x), by_tanh, rtol=1e-12, atol=1e-14)
        exact: Any = ffns[name](12)
        assert float((exact.activation(x) - by_tanh).abs().max()) > 1e-4


def test_deepnorm_has_the_numbers_of_its_paper() -> None:
    sizes = Sizes(vocabulary=11, context=16, width=12, depth=18, heads=3)
    layer: Any = assemble(sizes, parts(residual="deepnorm", placement="post"), 0).layers[0]
    assert layer.mixer.residual.alpha == pytest.approx(36**0.25)
    gains = {name: module.gain for name, module in layer.named_modules() if hasattr(module, "gain")}
    beta = pytest.approx(144**-0.25)
    assert gains["mixer.branch.projection.value"] == gains["ffn.branch.up"] == gains["ffn.branch.down"] == beta
    assert gains["mixer.branch.projection.query"] == gains["mixer.branch.projection.key"] == 1.0


def test_groups_of_query_heads_share_a_key() -> None:
    sizes = Sizes(vocabulary=11, context=16, width=12, depth=1, heads=6, key_value_heads=2)
    q, k, _ = projections["separate"](sizes, 1.0)(torch.randn(1, 4, 12, generator=torch.Generator().manual_seed(0)))
    assert q.shape == k.shape
    assert torch.equal(k[:, 0], k[:, 2]) and not torch.equal(k[:, 2], k[:, 3])


def test_a3_the_softmax_jacobian_has_a_norm_of_at_most_one_half() -> None:
    for logits in (torch.tensor([0.0, 0.0]), torch.randn(9, generator=torch.Generator().manual_seed(0))):
        share = logits.double().softmax(-1)
        norm = torch.linalg.matrix_norm(share.diag() - share.outer(share), 2)
        assert float(norm) <= 0.5 + 1e-12
    assert float(torch.linalg.matrix_norm(torch.tensor([[0.25, -0.25], [-0.25, 0.25]]), 2)) == pytest.approx(0.5)


def test_b1_rows_of_attention_sum_to_one() -> None:
    q, k = (torch.randn(2, 3, 5, 4, generator=torch.Generator().manual_seed(i)) for i in (0, 1))
    for name in masks.names():
        bias = additive(masks[name]()(5, 5, torch.device("cpu")), torch.float32)[None, None]
        torch.testing.assert_close(Softmax().weights(q, k, bias).sum(-1), torch.ones(2, 3, 5))


def test_b6_only_the_mixer_moves_information_between_tokens() -> None:
    model = assemble(SIZES, parts(mixer="attention", projection="separate"), 0)
    layers: Any = model.layers
    for layer in layers:
        nn.init.zeros_(layer.mixer.branch.output.weight)
    x = torch.randn(1, 6, 12, generator=torch.Generator().manual_seed(0))

    def through(x: torch.Tensor) -> torch.Tensor:
        for layer in model.layers:
            x = layer(x, model.position)
        return model.norm(x) @ torch.randn(12, generator=torch.Generator().manual_seed(1))

    jacobian: Any = torch.autograd.functional.jacobian(lambda x: through(x)[0], x)
    jacobian = jacobian[:, 0]
    for token in range(6):
        others = [other for other in range(6) if other != token]
        assert not jacobian[token, others].any()
        assert jacobian[token, token].any()


def test_c1_the_model_sees_no_future_through_any_position_and_placement() -> None:
    for position in ("none", "learned", "sinusoidal", "rope"):
        for placement in ("pre", "post", "sandwich", "none"):
            model = assemble(SIZES, parts(position=position, placement=placement), 0)
            tokens = torch.arange(10)[None] % 11
            changed = tokens.clone()
            changed[0, 6:] = 10
            assert torch.equal(model(tokens)[:, :6], model(changed)[:, :6])
            assert not torch.equal(model(tokens)[:, 6:], model(changed)[:, 6:])


def test_the_full_mask_sees_the_future() -> None:
    model = assemble(SIZES, parts(mask="full"), 0)
    tokens, changed = torch.zeros(1, 4, dtype=torch.long), torch.tensor([[0, 0, 0, 1]])
    assert not torch.equal(model(tokens)[:, 0], model(changed)[:, 0])


def test_e4_the_last_state_is_the_embedding_plus_all_updates() -> None:
    model = assemble(SIZES, parts(), 0).double()
    tokens = torch.arange(6)[None]
    updates: list[torch.Tensor] = []
    layers: Any = model.layers
    for layer in layers:
        for sublayer in (layer.mixer, layer.ffn):
            sublayer.branch.register_forward_hook(lambda module, inputs, output: updates.append(output))
    states = model.states(tokens)
    torch.testing.assert_close(states[-1], states[0] + torch.stack(updates).sum(0), rtol=1e-12, atol=1e-12)


def test_c13_pre_ends_in_a_norm_and_post_has_none_in_a_row() -> None:
    def norms(placement: str) -> int:
        model = assemble(SIZES, parts(placement=placement), 0)
        return sum(isinstance(module, nn.LayerNorm) for module in model.modules())

    assert {placement: norms(placement) for placement in ("pre", "post", "sandwich", "none")} == {
        "pre": 5, "post": 4, "sandwich": 9, "none": 0,
    }  # fmt: skip


def test_j1_tying_saves_a_table_and_the_initial_loss_is_that_of_its_logits() -> None:
    tied, untied = (
        sum(p.numel() for p in assemble(SIZES, parts(readout=r), 0).parameters()) for r in ("tied", "untied")
    )
    assert untied - tied == SIZES.vocabulary * SIZES.width
    deviation, vocabulary = 0.3, 1000
    logits = deviation * torch.randn(4000, vocabulary, generator=torch.Generator().manual_seed(0))
    loss = nn.functional.cross_entropy(logits, torch.zeros(4000, dtype=torch.long))
    assert float(loss) == pytest.approx(math.log(vocabulary) + deviation**2 / 2, abs=0.02)


def test_an_absent_ffn_leaves_nothing_behind() -> None:
    model = assemble(SIZES, parts(ffn="none"), 0)
    assert not [name for name, _ in model.named_parameters() if "ffn" in name]


def test_c31_a_model_loads_at_another_context() -> None:
    longer = Sizes(vocabulary=11, context=32, width=12, depth=2, heads=3)
    assemble(longer, parts(position="rope"), 1).load_state_dict(assemble(SIZES, parts(position="rope"), 0).state_dict())


def test_c10_learned_positions_refuse_a_longer_sequence_and_others_take_it() -> None:
    tokens = torch.zeros(1, 17, dtype=torch.long)
    with pytest.raises(ValueError, match=r"17 tokens .* context of 16"):
        assemble(SIZES, parts(position="learned"), 0)(tokens)
    for position in ("none", "rope", "sinusoidal"):
        assert assemble(SIZES, parts(position=position), 0)(tokens).shape == (1, 17, 11)


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        ({"width": 64, "heads": 3}, "heads=3 does not divide width=64; heads that do: 1, 2, 4, 8, 16, 32, 64"),
        ({"depth": 0}, "depth=0: must be at least 1"),
    ],
)
def test_c7_impossible_sizes_are_refused_with_both_numbers(numbers: dict[str, int], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Sizes(**({"vocabulary": 11, "context": 16, "width": 12, "depth": 2, "heads": 3} | numbers))


def test_rope_refuses_an_odd_head_width() -> None:
    with pytest.raises(ValueError, match=r"must be even: it is 3"):
        RoPE(Sizes(vocabulary=2, context=4, width=9, depth=1, heads=3))
