"""Numbers that other training loops are known to get wrong."""

import json
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

from components.attention import attentions
from components.norm import norms
from components.position.sinusoidal import waves
from experiments import build, trial
from experiments.data import Batch
from experiments.identity import understood
from experiments.objective import objectives
from experiments.recorder import TABLE
from experiments.task import LanguageModeling

Prepared = Callable[..., Path]
pytestmark = pytest.mark.filterwarnings("ignore:.*LeafSpec:FutureWarning")  # Lightning's own, with this torch


def trained(folder: Path) -> pd.DataFrame:
    trial.train(folder)
    return pd.read_parquet(folder / TABLE)


@pytest.mark.parametrize("name", attentions.names())
def test_c6_weights_are_those_of_what_trains_whether_a_kernel_is_fused_or_not(name: str) -> None:
    q, k, v = (torch.randn(2, 3, 5, 4, generator=torch.Generator().manual_seed(i)) for i in range(3))
    core: Any = attentions[name]()
    torch.testing.assert_close(core.weights(q, k, None) @ v, core(q, k, v, None))


def test_c9_sinusoids_have_the_exponent_of_their_paper() -> None:
    table = waves(6, 8, 10_000.0)
    for t in range(6):
        for i in range(4):
            angle = t / 10_000 ** (2 * i / 8)
            assert table[t, 2 * i].item() == pytest.approx(math.sin(angle), abs=1e-6)
            assert table[t, 2 * i + 1].item() == pytest.approx(math.cos(angle), abs=1e-6)


def test_c12_every_norm_that_divides_says_its_eps_and_all_have_the_same(compose: Callable[..., DictConfig]) -> None:
    said = {}
    for norm in norms.names():
        config = understood(compose(f"norm={norm}")).config["norm"]
        said |= {norm: config["eps"]} if "eps" in config else {}
    assert said == dict.fromkeys(("layernorm", "rmsnorm", "scalenorm"), 1e-5)


def test_c20_gradient_norms_under_accumulation_are_those_of_the_whole_batch(folder_of: Prepared) -> None:
    plain = ("optimizer=sgd", "optimizer.lr=0.1")
    whole = trained(folder_of(*plain, "batch_size=8"))
    pieces = trained(folder_of(*plain, "batch_size=2", "trainer.accumulate_grad_batches=4"))
    for name in whole.filter(like="gradient_norm/").columns:
        assert pieces[name].dropna().to_list() == pytest.approx(whole[name].dropna().to_list(), rel=1e-4)


@pytest.mark.parametrize("precision", ["bf16-true", "bf16-mixed"])
def test_c24_means_over_many_batches_are_not_taken_in_bfloat16(folder_of: Prepared, precision: str) -> None:
    chosen = (f"trainer.precision={precision}", "batch_size=1", "data.validation_tokens=16000", "trainer.max_steps=3")
    found = trained(folder_of(*chosen))["val/loss"].iloc[0]
    exact = trained(folder_of(*chosen[1:]))["val/loss"].iloc[0]
    assert found == pytest.approx(exact, rel=2e-3)  # 1,000 sequences in 250 batches; a sum in bfloat16 stops at 256


def test_c26_the_mean_is_over_tokens_whatever_the_batches(folder_of: Prepared) -> None:
    losses = [
        trained(folder_of(f"batch_size={size}", "trainer.max_steps=3"))["val/loss"].iloc[0] for size in (1, 3, 16)
    ]
    assert losses == pytest.approx([losses[0]] * 3, rel=1e-6)


def test_c26_a_token_of_a_short_row_weighs_what_any_token_weighs() -> None:
    """Losses 1, 1, 1 in a row and 3 alone in the next have the mean 1.5, no mean of rows or of exponentials."""
    objective, silent = objectives["causal_lm"](), -100
    logits = torch.zeros(2, 3, 2)
    logits[0, :, 1], logits[1, 0, 1] = math.log(math.e - 1), math.log(math.exp(3) - 1)  # the loss of target 0
    batch = Batch.of(torch.zeros(2, 3, dtype=torch.long), torch.tensor([[0, 0, 0], [0, silent, silent]]))
    assert float(objective(logits, batch.targets).sum() / batch.scored) == pytest.approx(1.5)


def test_c35_a_trial_leaves_flat_files(folder_of: Prepared) -> None:
    folder = folder_of()
    trained(folder)
    assert sorted(path.name for path in folder.iterdir()) == [
        "config.yaml", "history.parquet", "summary.json", "weights.pt",
    ]  # fmt: skip


def test_c37_a_finished_trial_is_left_as_it_is_and_more_steps_are_another_trial(
    folder_of: Prepared, compose: Callable[..., DictConfig]
) -> None:
    folder = folder_of()
    trial.train(folder)
    before = {path: path.read_bytes() for path in folder.iterdir()}
    trial.main(folder)
    assert {path: path.read_bytes() for path in folder.iterdir()} == before
    assert json.loads((folder / "summary.json").read_text())["steps"] == 6
    doubled = understood(compose("trainer.max_steps=12")).trial(0)[0]
    assert doubled != understood(compose()).trial(0)[0]


def test_c21_clipping_scales_the_gradient_to_the_limit(folder_of: Prepared) -> None:
    config = yaml.safe_load((folder_of() / "config.yaml").read_text())
    data = build.data(config)
    objective, optimizer, schedule = build.training(config)
    task = LanguageModeling(build.model(config, data.vocabulary)[0], objective, optimizer, schedule, 0)
    batch = data.train(4, 0, 0)
    objective(task.model(batch.inputs), batch.targets).mean().backward()
    before = [p.grad.clone() for p in task.model.parameters() if p.grad is not None]
    task.configure_gradient_clipping(optimizer(task.model), 1e-3)
    after = [p.grad for p in task.model.parameters() if p.grad is not None]
    total = float(torch.stack([g.norm() for g in before]).norm())
    assert total > 1e-3
    for old, new in zip(before, after, strict=True):
        np.testing.assert_allclose(new.numpy(), old.numpy() * 1e-3 / total, rtol=1e-4, atol=1e-12)


def test_g1_a_gated_network_of_two_thirds_has_the_size_of_the_ungated() -> None:
    from components.ffn import ffns

    def size(name: str, width: int, expansion: float = 4.0) -> int:
        return sum(p.numel() for p in ffns[name](width, expansion=expansion).parameters())

    with torch.device("meta"):
        gated: Any = ffns["swiglu"](4096)
        assert gated.up.weight.shape[0] == 10923  # 8 · 4096 / 3 = 10922.7
        assert size("swiglu", 4096, 4.03125) == 3 * 4096 * 11008  # LLaMA's multiple of 256
        assert size("swiglu", 4096, 4.03125) / size("gelu", 4096) == pytest.approx(1.0078, abs=1e-4)
    assert all(size(name, 96) == size("gelu", 96) for name in ("swiglu", "geglu", "reglu", "bilinear"))
