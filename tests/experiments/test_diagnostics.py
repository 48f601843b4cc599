"""What diagnostics measure, against values found in other ways: by hand, in NumPy, in closed form."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
import yaml
from omegaconf import DictConfig
from torch import Tensor, nn

from components.model import Decoder
from experiments import build, trial
from experiments.budget import training_flops
from experiments.checkpoint import WEIGHTS
from experiments.data import IGNORED
from experiments.diagnostic import diagnostics, speed
from experiments.diagnostic.attention import jacobian_norm
from experiments.diagnostic.gradient_through_time import fits, through_time
from experiments.diagnostic.noise_scale import estimates
from experiments.diagnostic.patching import pairs
from experiments.diagnostic.stream import outlier_features
from experiments.identity import understood
from experiments.intervene import mean, patched, replaced, sites, zero
from experiments.memory import peak
from experiments.rank import SINGLE
from experiments.recorder import TABLE, Recorder
from experiments.spikes import spikes
from experiments.task import LanguageModeling
from experiments.watch import Watch
from tests.reference import layernorm, softmax

Compose = Callable[..., DictConfig]
Prepared = Callable[..., Path]
Array = np.ndarray
Asked = Callable[..., tuple[dict[str, float], LanguageModeling]]
pytestmark = pytest.mark.filterwarnings("ignore:.*LeafSpec:FutureWarning")  # Lightning's own, with this torch
CLOSE = 2e-5


@pytest.fixture
def asked(compose: Compose, tmp_path: Path) -> Asked:
    """A model as it is drawn, and what diagnostics say of it."""

    def answers(names: str, *words: str) -> tuple[dict[str, float], LanguageModeling]:
        _, config = understood(compose(*words)).trial(0)
        _, task = trial.prepared(config, SINGLE, None)
        watching = [diagnostics.build({"name": name})() for name in names.split()]
        measures = [measure for each in watching for measure in each.measures(task.model)]
        with Recorder(tmp_path, measures) as recorder:
            task.recorder = recorder
            recorder.at(0, 0)
            Watch(task, watching).ask()
            series = {measure.name: recorder.series(measure.name) for measure in measures}
        assert all(len(values) == 1 for values in series.values()), series
        return {name: values.item() for name, values in series.items()}, task

    return answers


def looked_at(task: LanguageModeling) -> tuple[Tensor, Tensor]:
    """The sequences that a look is at."""
    batch = task.held_out(task.model.sizes.context)[0]
    return batch.inputs[:8], batch.targets[:8]


def exact(value: Tensor) -> Array:
    return value.detach().double().numpy()


def by_hand(model: Decoder, tokens: Tensor, layer: int = 0) -> tuple[Array, Array]:
    """Logits and shares of one layer's heads (B H T S) in NumPy float64; without positions, all heads with own keys."""
    placement = type(model.layers[layer].mixer.before).__name__  # pyright: ignore
    x = exact(model.states(tokens)[layer])
    if placement == "LayerNorm":
        x = layernorm(x, 1e-5)
    maps = model.layers[layer].mixer.branch.projection  # pyright: ignore
    heads, length = model.sizes.heads, tokens.shape[1]
    q, k = (
        (x @ exact(each.weight).T).reshape(len(x), length, heads, -1).swapaxes(1, 2)  # pyright: ignore
        for each in (maps.query, maps.key)  # pyright: ignore
    )
    logits = q @ k.swapaxes(-1, -2) / math.sqrt(q.shape[-1])
    logits[..., ~np.tril(np.ones((length, length), dtype=bool))] = -np.inf
    return logits, softmax(logits)


@pytest.mark.parametrize("placement", ["pre", "post", "inside"])
def test_attention_is_what_its_shares_say(asked: Asked, placement: str) -> None:
    found, task = asked("attention", f"placement={placement}", "position=none")
    tokens, _ = looked_at(task)
    for layer in (0, 1):
        logits, shares = by_hand(task.model, tokens, layer)
        queries = [(shares[:, :, t, : t + 1], t + 1) for t in range(1, shares.shape[2])]  # the first has no choice
        entropy = np.stack([-(p * np.log(p)).sum(-1) / math.log(n) for p, n in queries], -1)
        rows = [row for p, _ in queries for row in p.reshape(-1, p.shape[-1])]
        jacobians = sorted(np.linalg.norm(np.diag(row) - np.outer(row, row)) for row in rows)
        expected = {
            "entropy": entropy.mean(),
            "saturation": np.stack([p.max(-1) for p, _ in queries]).mean(),
            "max_logit": logits.max(),
        }
        for name, value in expected.items():
            assert found[f"attention/{name}/layers.{layer}"] == pytest.approx(value, rel=CLOSE), name
        middle = jacobians[(len(jacobians) - 1) // 2]
        assert found[f"attention/jacobian/layers.{layer}"] == pytest.approx(middle, rel=1e-4)
        assert found["attention/entropy_minimum"] <= entropy.mean((0, 2)).min() + CLOSE
    both = [found[f"attention/entropy/layers.{layer}"] for layer in (0, 1)]
    assert found["attention/entropy"] == pytest.approx(np.mean(both))
    assert found["attention/max_logit"] == max(found[f"attention/max_logit/layers.{layer}"] for layer in (0, 1))


@pytest.mark.parametrize(
    ("words", "silent"),
    [(("mixer=lstm",), True), (("attention=relu",), False), (("attention=sigmoid", "mask=window"), False)],
)
def test_other_mixers_and_cores_say_what_they_can(asked: Asked, words: tuple[str, ...], silent: bool) -> None:
    found, _ = asked("attention query_gradient", *words)
    assert silent == (not found)
    assert not any("jacobian" in name for name in found)
    assert all(0 <= value <= 1 for name, value in found.items() if "entropy" in name or "saturation" in name)


@pytest.mark.parametrize(
    ("width", "scaled", "median"), [(64, True, 0.180), (16, False, 0.335), (64, False, 0.195), (256, False, 0.0255)]
)
def test_a3_the_jacobian_of_64_keys_has_the_known_medians(width: int, scaled: bool, median: float) -> None:
    generator = torch.Generator().manual_seed(0)
    q, k = torch.randn(4000, width, generator=generator), torch.randn(4000, 64, width, generator=generator)
    logits = torch.einsum("nd,nkd->nk", q, k) / (math.sqrt(width) if scaled else 1)
    assert jacobian_norm(logits.softmax(-1)).median().item() == pytest.approx(median, rel=0.06)


@pytest.mark.parametrize(
    "words", [("mixer=attention",), ("mixer=lstm", "placement=post"), ("mixer=mingru", "placement=none")]
)
def test_the_stream_is_measured_where_it_flows(asked: Asked, words: tuple[str, ...]) -> None:
    found, task = asked("stream", *words)
    states = [exact(state) for state in task.model.states(looked_at(task)[0])]
    for place, x in zip(("embedding", "layers.0", "layers.1"), states, strict=True):
        each = {
            "rms": math.sqrt((x**2).mean()),
            "kurtosis": np.mean([(t**4).mean() / (t**2).mean() ** 2 for t in x.reshape(-1, x.shape[-1])]),
            "outlier": abs(x).max() / math.sqrt((x**2).mean()),
            "rank": np.mean([np.linalg.norm(s - s.mean(0)) / np.linalg.norm(s) for s in x]),
            "cosine": np.mean([_cosines(sequence) for sequence in x]),
        }
        for name, value in each.items():
            assert found[f"stream/{name}/{place}"] == pytest.approx(value, rel=1e-4), (place, name)


def _cosines(x: Array) -> float:
    unit = x / np.linalg.norm(x, axis=-1, keepdims=True)
    return float(np.mean([unit[i] @ unit[j] for i in range(len(x)) for j in range(len(x)) if i != j]))


def test_a_feature_that_is_far_out_in_enough_layers_and_tokens_is_an_outlier() -> None:
    layers = [torch.ones(2, 50, 64) for _ in range(5)]  # the first is what enters
    for layer in layers[1:3]:
        layer[:, :4, 3] = 60.0  # 8 % of the tokens in half of the layers
        layer[:, :2, 5] = 60.0  # too few tokens
    layers[0][:, :, 7] = 60.0
    assert outlier_features(layers).item() == 1


@pytest.mark.parametrize("residual", ["add", "layerscale", "deepnorm"])
def test_a_branch_is_what_the_stream_would_lack_without_it(asked: Asked, residual: str) -> None:
    found, task = asked("branch", f"residual={residual}", "placement=none", "position=none")
    x = task.model.states(looked_at(task)[0])[0]
    for layer, block in enumerate(task.model.layers):
        for name, sublayer in (("mixer", block.mixer), ("ffn", block.ffn)):  # pyright: ignore
            update = sublayer.branch(x, task.model.position) if name == "mixer" else sublayer.branch(x)  # pyright: ignore
            scale = {"add": 1.0, "layerscale": 0.1, "deepnorm": 1.0}[residual]
            alpha = (2 * 2) ** 0.25 if residual == "deepnorm" else 1.0
            after = alpha * x + scale * update
            share = exact(scale * update).var() / exact(after).var()
            assert found[f"branch/layers.{layer}.{name}"] == pytest.approx(share, rel=1e-3)
            x = after


@pytest.mark.parametrize("mixer", ["attention", "lstm", "mingru"])
def test_log_z_is_the_logarithm_of_the_sum_of_exponentials(asked: Asked, mixer: str) -> None:
    found, task = asked("log_z", f"mixer={mixer}")
    log_z = np.log(np.exp(exact(task.model(looked_at(task)[0]))).sum(-1))
    assert found["log_z/mean"] == pytest.approx(log_z.mean(), rel=CLOSE)
    assert found["log_z/square"] == pytest.approx((log_z**2).mean(), rel=CLOSE)


@pytest.mark.parametrize(
    "words", [("mixer=attention",), ("mixer=gru", "placement=post"), ("mixer=rnn", "residual=none")]
)
def test_tokens_gradients_are_those_of_autograd(asked: Asked, words: tuple[str, ...]) -> None:
    found, task = asked("token_gradient", *words)
    tokens, targets = looked_at(task)
    states = task.model.states(tokens)
    loss = nn.functional.cross_entropy(
        task.model.readout(task.model.norm(states[-1])).flatten(0, 1), targets.flatten(), reduction="sum"
    )
    norms = [exact(each.norm(dim=-1)).ravel() for each in torch.autograd.grad(loss, states)]
    for place, each in zip(("embedding", "layers.0", "layers.1"), norms, strict=True):
        expected = dict(zip(("p10", "median", "p90"), np.quantile(each, [0.1, 0.5, 0.9]), strict=True))
        for name, value in (expected | {"rms": math.sqrt((each**2).mean())}).items():
            assert found[f"token_gradient/{name}/{place}"] == pytest.approx(value, rel=1e-4)
    ratio = math.sqrt((norms[0] ** 2).mean() / (norms[-1] ** 2).mean())
    assert found["token_gradient/first_to_last"] == pytest.approx(ratio, rel=1e-4)


@pytest.mark.parametrize("placement", ["pre", "post", "none"])
def test_queries_gradients_are_those_of_autograd(asked: Asked, placement: str) -> None:
    found, task = asked("query_gradient", f"placement={placement}")
    tokens, targets = looked_at(task)
    kept: list[Tensor] = []
    layer: Any = task.model.layers[0]
    layer.mixer.branch.scale.register_forward_hook(lambda module, given, q: (q.retain_grad(), kept.append(q))[1])
    task.objective(task.model(tokens), targets).sum().backward()
    norms = exact(torch.as_tensor(kept[0].grad).norm(dim=-1)).ravel()
    expected = {"rms": math.sqrt((norms**2).mean()), "p10": np.quantile(norms, 0.1), "median": np.quantile(norms, 0.5)}
    for name, value in expected.items():
        assert found[f"query_gradient/{name}/layers.0"] == pytest.approx(value, rel=1e-4)


def trained(folder: Path) -> pd.DataFrame:
    trial.train(folder)
    return pd.read_parquet(folder / TABLE)


def gradients(folder: Path, rows: slice = slice(None)) -> tuple[Decoder, dict[str, Tensor]]:
    """The model as it was drawn, and the gradient of the first batch's mean loss."""
    config = yaml.safe_load((folder / "config.yaml").read_text())
    data = build.data(config)
    model, _ = build.model(config, data.vocabulary)
    batch = data.train(config["batch_size"], 0, 0)
    nn.functional.cross_entropy(model(batch.inputs[rows]).flatten(0, 1), batch.targets[rows].flatten()).backward()
    return model, {name: p.grad for name, p in model.named_parameters() if p.grad is not None}


@pytest.mark.parametrize(
    "words",
    [
        ("placement=pre",),
        ("placement=post", "mixer=lstm"),
        ("mixer=mingru", "trainer.accumulate_grad_batches=2", "batch_size=2"),
    ],
)
def test_gradient_norms_are_those_of_layers_and_kinds(folder_of: Prepared, words: tuple[str, ...]) -> None:
    folder, whole = folder_of(*words, "diagnostic=[gradient_norm,matrix_gradient]"), folder_of(*words, "batch_size=4")
    first = trained(folder).iloc[1]
    _, found = gradients(whole)
    kinds = {
        "layers.0": lambda name: name.startswith("layers.0."),
        "layers.1": lambda name: name.startswith("layers.1."),
        "norm": lambda name: ".before." in name or ".after." in name or name.startswith("norm."),
        "ffn": lambda name: ".ffn.branch." in name,
        "embedding": lambda name: name.startswith("embedding."),
        "readout": lambda name: name.startswith("readout."),
    }
    for group, member in kinds.items():
        norm = torch.stack([g.norm() for name, g in found.items() if member(name)]).norm()
        assert first[f"gradient_norm/{group}"] == pytest.approx(norm.item(), rel=1e-4), group
    layers = [first["gradient_norm/layers.0"], first["gradient_norm/layers.1"]]
    assert first["gradient_norm/slope"] == pytest.approx(np.polyfit([0, 1], np.log(layers), 1)[0], rel=1e-4)
    assert first["gradient_norm/first_to_last"] == pytest.approx(layers[0] / layers[1], rel=1e-5)
    up = found["layers.1.ffn.branch.up.weight"].norm().item()
    assert (
        first["matrix_gradient/layers.1.ffn.up"] == first["matrix_gradient/last.ffn.up"] == pytest.approx(up, rel=1e-4)
    )


def test_an_update_is_what_the_optimizer_makes_of_the_gradient(folder_of: Prepared) -> None:
    """Plain SGD: ‖Δw‖ = rate · clip · ‖g‖ / max(clip, ‖g‖)."""
    words = (
        "optimizer=sgd",
        "optimizer.momentum=0",
        "schedule=constant",
        "schedule.warmup=0",
        "optimizer.lr=0.1",
        "optimizer.weight_decay=0",
    )
    folder = folder_of(*words, "diagnostic=[update_ratio]", "trainer.gradient_clip_val=0.5")
    first = trained(folder).iloc[1]
    model, found = gradients(folder)
    clip = 0.5 / max(0.5, torch.stack([g.norm() for g in found.values()]).norm().item())
    layer = [name for name, _ in model.named_parameters() if name.startswith("layers.1.")]
    moved = 0.1 * clip * torch.stack([found[name].norm() for name in layer]).norm()
    size = torch.stack([p.norm() for name, p in model.named_parameters() if name in layer]).norm()
    assert first["update_ratio/layers.1"] == pytest.approx((moved / size).item(), rel=1e-3)


@pytest.mark.parametrize("words", [("placement=pre",), ("placement=post",), ("mixer=rnn",)])
def test_the_noise_scale_of_a_batch_and_its_half(folder_of: Prepared, words: tuple[str, ...]) -> None:
    folder = folder_of(*words, "diagnostic=[noise_scale]", "diagnostic.noise_scale.every=2")
    history = trained(folder)
    (_, whole), (_, half) = gradients(folder), gradients(folder, slice(0, 2))
    big, small = (sum(g.double().square().sum().item() for g in each.values()) for each in (whole, half))
    assert history["noise_scale/noise"].iloc[1] == pytest.approx((small - big) / (1 / 2 - 1 / 4), rel=1e-4)
    assert history["noise_scale/signal"].iloc[1] == pytest.approx((4 * big - 2 * small) / (4 - 2), rel=1e-4)
    noise, signal = (history[f"noise_scale/{name}"].dropna().to_numpy() for name in ("noise", "signal"))
    assert len(noise) == 3
    weights = 0.9 ** np.array([2, 1, 0])
    assert history["noise_scale"].dropna().iloc[-1] == pytest.approx((weights @ noise) / (weights @ signal), rel=1e-5)


def test_estimates_of_noise_and_signal_are_right_on_average() -> None:
    """Gradients of single examples N(μ, Σ): |μ|² = 4, tr Σ = 9."""
    generator = torch.Generator().manual_seed(0)
    examples = torch.randn(20_000, 8, 3, generator=generator, dtype=torch.float64) * math.sqrt(3)
    examples[..., 0] += 2
    big, small = (examples[:, :n].mean(1).square().sum(-1) for n in (8, 2))
    noise, signal = estimates(big, small, 8, 2)
    assert noise.mean().item() == pytest.approx(9, rel=0.03)
    assert signal.mean().item() == pytest.approx(4, rel=0.03)


def test_spikes_are_those_that_a_plain_loop_finds() -> None:
    generator = torch.Generator().manual_seed(1)
    curve = torch.randn(3000, generator=generator)
    curve[[900, 1500, 2999]] += 15
    curve[2000] -= 15  # downwards is no spike
    width, found = 600, 0
    for place in range(width, 3000):
        window = curve[place - width : place].double().numpy()
        spread = 1.4826 * np.median(abs(window - np.median(window)))
        found += int(curve[place].item() > np.median(window) + 7 * spread)
    assert found == 3
    assert spikes(curve).item() == pytest.approx(found / (3000 - width))
    assert spikes(curve[:20]).item() == 0


@pytest.mark.parametrize(
    "words", [("mixer=attention", "position=alibi"), ("mixer=rnn", "residual=none"), ("mixer=gru", "placement=post")]
)
def test_gradient_through_time_is_the_norm_of_the_jacobian(asked: Asked, words: tuple[str, ...]) -> None:
    _, task = asked("gradient_through_time", *words)
    model, tokens = task.model.double(), looked_at(task)[0][:1, :8]
    start = model.states(tokens)[0]

    def last(x: Tensor) -> Tensor:
        for layer in model.layers:
            x = layer(x, model.position)
        return x[0, -1]

    jacobian: Any = torch.autograd.functional.jacobian(last, start)
    expected = jacobian[:, 0].square().sum((0, 2)).sqrt().flip(0)
    assert through_time(model, tokens, 4000).tolist() == pytest.approx(expected.tolist(), rel=0.06)


def test_b9_uniform_causal_attention_dilutes_as_one_over_t(asked: Asked) -> None:
    """Queries of zero look at all alike: without residual and norm the past's gradient is the same at all distances."""
    _, task = asked(
        "gradient_through_time", "residual=none", "placement=none", "ffn=none", "model.depth=1", "position=none"
    )
    with torch.no_grad():
        task.model.layers[0].mixer.branch.projection.query.weight.zero_()  # pyright: ignore
    found = [through_time(task.model.double(), looked_at(task)[0][:, :length], 4) for length in (4, 16)]
    for gradient in found:
        assert gradient.tolist() == pytest.approx([gradient[0].item()] * len(gradient))
    assert (found[0][0] / found[1][0]).item() == pytest.approx(4)


def test_laws_of_decay_are_told_apart() -> None:
    k = torch.arange(1.0, 65, dtype=torch.float64)
    ahead = torch.tensor([1.0], dtype=torch.float64)
    exponential, power = fits(torch.cat([ahead, (-k / 5).exp()])), fits(torch.cat([ahead, k**-1.5]))
    assert exponential["tokens"].item() == pytest.approx(5)
    assert exponential["exponential_by"] > 100
    assert power["exponent"].item() == pytest.approx(1.5)
    assert power["exponential_by"] < -100
    assert power["farthest"].item() == pytest.approx(64**-1.5)


@pytest.mark.parametrize("mixer", ["attention", "gru", "none"])
def test_position_loss_is_the_mean_of_each_eighth(asked: Asked, mixer: str) -> None:
    found, task = asked("position_loss", f"mixer={mixer}")
    batches = task.held_out(16)
    tokens, targets = (torch.cat([batch[i] for batch in batches]) for i in (0, 1))
    losses = nn.functional.cross_entropy(task.model(tokens).flatten(0, 1), targets.flatten(), reduction="none").view(
        -1, 8, 2
    )
    assert [found[f"position_loss/{part}_of_8"] for part in range(1, 9)] == pytest.approx(
        losses.mean((0, 2)).tolist(), rel=CLOSE
    )
    assert found["position_loss/late_less_early"] == pytest.approx(
        losses[:, 7].mean().item() - losses[:, 0].mean().item(), rel=1e-3
    )


def test_speed_is_tokens_over_time_without_validation(folder_of: Prepared, monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that goes half a second each time it is read: 2 readings for 2 steps of 64 tokens."""
    folder = folder_of(
        "diagnostic=[speed]",
        "diagnostic.speed.every=4",
        "diagnostic.speed.span=2",
        "diagnostic.speed.peak_teraflops=1",
        "trainer.max_steps=8",
        "trainer.val_check_interval=6",
    )
    ticks = iter(range(1000))
    monkeypatch.setattr(speed, "_now", lambda task: next(ticks) / 2)
    history = trained(folder)
    assert history["tokens_per_second"].dropna().to_dict() == {4: 2 * 64 / 0.5}  # a validation came between 6 and 8
    config = yaml.safe_load((folder / "config.yaml").read_text())
    flops = build.cost(config, training_flops)
    assert history["mfu"].dropna().to_list() == pytest.approx([256 * flops / 1e12])
    assert history["peak_memory"].iloc[-1] <= 1.001 * peak(torch.device("cpu")) / 1e6


@pytest.mark.parametrize("placement", ["pre", "post", "none"])
def test_a_silent_site_is_one_whose_weights_are_zero(asked: Asked, placement: str) -> None:
    found, task = asked("zero_ablation", f"placement={placement}")
    batch = task.held_out(16)[0]

    def loss() -> float:
        logits = task.model(batch.inputs)
        return nn.functional.cross_entropy(logits.flatten(0, 1), batch.targets.flatten()).item()

    whole, weights = loss(), {name: value.clone() for name, value in task.model.state_dict().items()}
    size = task.model.sizes.head_width
    blocks: dict[str, Callable[[Any], Tensor]] = {
        "layers.0.heads.1": lambda m: m.layers[0].mixer.branch.output.weight[:, size : 2 * size],
        "layers.1.mixer": lambda m: m.layers[1].mixer.branch.output.weight,
        "layers.0.ffn": lambda m: m.layers[0].ffn.branch.down.weight,
    }
    for site, block in blocks.items():
        with torch.no_grad():
            block(task.model).zero_()
        assert found[f"zero_ablation/{site}"] == pytest.approx(loss() - whole, abs=2e-5), site
        task.model.load_state_dict(weights)
    with torch.no_grad():
        task.model.layers[1].mixer.branch.output.weight.zero_()  # pyright: ignore
        task.model.layers[1].ffn.branch.down.weight.zero_()  # pyright: ignore
    assert found["zero_ablation/layers.1"] == pytest.approx(loss() - whole, abs=2e-5)


def test_a_mean_says_the_same_of_every_token(asked: Asked) -> None:
    _, task = asked("mean_ablation")
    tokens = looked_at(task)[0]
    x = task.model.states(tokens)[1]
    with torch.no_grad():
        mixed = task.model.layers[1].mixer(x, task.model.position)  # pyright: ignore
        fed = task.model.layers[1].ffn.branch(task.model.layers[1].ffn.before(mixed))  # pyright: ignore
        expected = mixed + fed.mean((0, 1))
        with replaced(task.model, "layers.1.ffn", mean):
            assert torch.allclose(task.model.states(tokens)[2], expected, atol=1e-6)


def test_interventions_leave_no_trace_and_unknown_sites_are_named(asked: Asked) -> None:
    _, task = asked("zero_ablation mean_ablation")
    tokens = looked_at(task)[0]
    before = task.model(tokens)
    for site in sites(task.model):
        with replaced(task.model, site, zero):
            assert not torch.equal(task.model.forward(tokens), before)
    assert torch.equal(task.model(tokens), before)
    with (
        pytest.raises(KeyError, match=r"there is no layers\.7\.ffn in this model; there are: layers\.0\.heads\.0"),
        replaced(task.model, "layers.7.ffn", zero),
    ):
        pass


@pytest.mark.parametrize("words", [("mixer=attention",), ("mixer=lstm",), ("placement=post", "block=parallel")])
def test_e4_a_patched_stream_carries_the_answer(asked: Asked, words: tuple[str, ...]) -> None:
    found, task = asked("patching", *words)
    assert found["patching/answer/layers.1"] == pytest.approx(1, abs=1e-4)
    assert found["patching/elsewhere/layers.1"] == pytest.approx(0, abs=1e-4)
    tokens, donor = looked_at(task)[0][:4], looked_at(task)[0][4:]
    everywhere = torch.ones_like(tokens, dtype=torch.bool)
    for number, place in enumerate(("embedding", "layers.0", "layers.1")):
        with patched(task.model, place, everywhere, task.model.states(donor)[number]):
            assert torch.equal(task.model(tokens), task.model(donor))


def test_pairs_are_scored_at_one_position_with_two_answers(asked: Asked) -> None:
    _, task = asked("log_z", "data=agreement", "model.context=8")
    batch = task.held_out(8)[0]
    rows, donors, position = pairs(batch)
    assert len(rows) > 10
    for row, donor, at in zip(rows, donors, position, strict=True):
        assert batch.targets[row, at] != batch.targets[donor, at]
        assert IGNORED not in (batch.targets[row, at], batch.targets[donor, at])


ALL = (
    "gradient_norm,loss_spikes,update_ratio,attention,stream,branch,log_z,token_gradient,query_gradient,"
    "matrix_gradient,noise_scale,gradient_through_time,position_loss,speed,attention_map,zero_ablation,"
    "mean_ablation,patching,extrapolation"
)


@pytest.mark.parametrize("compiled", ["none", "aot_eager"])
def test_all_diagnostics_only_read_and_all_of_their_measures_arrive(folder_of: Prepared, compiled: str) -> None:
    torch.compiler.reset()
    words = (f"trainer.compile={compiled}", "model.dropout=0.1", "trainer.max_steps=12")
    assert set(ALL.split(",")) == set(diagnostics.names())
    every = [f"diagnostic.{name}.every=4" for name in ALL.split(",") if "every" in diagnostics.knobs(name)]
    knobs = ("diagnostic.extrapolation.lengths=[16]", "diagnostic.speed.peak_teraflops=1", "diagnostic.speed.span=1")
    watched, alone = (
        folder_of(*words, f"diagnostic=[{ALL}]", *every, *knobs, "trainer.val_check_interval=12"),
        folder_of(*words, "diagnostic=[]", "trainer.val_check_interval=12"),
    )
    history = trained(watched)
    assert trained(alone)["val/loss"].dropna().to_list() == history["val/loss"].dropna().to_list()
    weights, bare = (torch.load(folder / WEIGHTS, weights_only=True) for folder in (watched, alone))
    assert all(torch.equal(weights[name], bare[name]) for name in bare)
    assert [name for name in history if not history[name].notna().any()] == []
    assert len(list((watched / "attention").glob("*.npz"))) == 4
