"""What a trial does, step by step, against values known otherwise."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import pytest
import torch
import yaml
from torch import nn

from components.model import Decoder
from experiments import build, trial
from experiments.data import IGNORED, Batch, datas
from experiments.measure import TRAINING
from experiments.objective import objectives
from experiments.optimizer import Decay, Role, decays, optimizers, roles
from experiments.recorder import STREAM, TABLE, Recorder, read
from experiments.schedule import schedules

Prepared = Callable[..., Path]
pytestmark = pytest.mark.filterwarnings("ignore:.*LeafSpec:FutureWarning")  # Lightning's own, with this torch


def trained(folder: Path) -> pd.DataFrame:
    trial.train(folder)
    return pd.read_parquet(folder / TABLE)


def test_c33_the_same_trial_twice_is_the_same_history_bit_for_bit(folder_of: Prepared) -> None:
    first, second = folder_of(), folder_of()
    trained(first)
    torch.manual_seed(99)  # whatever ran before in the process does not matter
    trained(second)
    assert (first / TABLE).read_bytes() == (second / TABLE).read_bytes()


def test_diagnostics_only_read(folder_of: Prepared) -> None:
    watched, alone = trained(folder_of()), trained(folder_of("diagnostic=[]"))
    assert "gradient_norm/total" in watched
    assert "gradient_norm/total" not in alone
    pd.testing.assert_frame_equal(watched[alone.columns], alone)


def test_c32_a_compiled_trial_is_the_same_trial_with_every_measure(folder_of: Prepared) -> None:
    torch.compiler.reset()
    eager, compiled = trained(folder_of()), trained(folder_of("trainer.compile=aot_eager"))
    pd.testing.assert_frame_equal(compiled, eager)


def test_arms_see_the_same_tokens_and_share_their_weights(folder_of: Prepared) -> None:
    plain, scaled = trained(folder_of("scale=sqrt")), trained(folder_of("scale=none", "init.embedding=0"))
    assert plain.tokens.to_list() == scaled.tokens.to_list() == [0, 64, 128, 192, 256, 320, 384]
    assert scaled["val/loss"].iloc[0] == pytest.approx(math.log(103), abs=0.3)


def test_the_history_has_a_row_a_step_and_validation_where_it_was_asked(folder_of: Prepared) -> None:
    history = trained(folder_of())
    assert history.step.to_list() == list(range(7))
    assert history["val/loss"].dropna().index.to_list() == [0, 3, 6]
    assert history["train/loss"].dropna().index.to_list() == list(range(1, 7))


def test_columns_carry_what_their_measure_declares(folder_of: Prepared) -> None:
    folder = folder_of()
    trained(folder)
    declared = pq.read_schema(folder / TABLE).field("val/loss").metadata
    assert declared == {b"unit": b"nats/token", b"better": b"lower", b"reduction": b"final", b"repeats": b"exactly"}


def test_c25_validation_is_the_loss_over_all_tokens(folder_of: Prepared) -> None:
    folder = folder_of("batch_size=3")  # a last batch of another size
    history = trained(folder)
    config = yaml.safe_load((folder / "config.yaml").read_text())
    data = build.data(config)
    model, _ = build.model(config, data.vocabulary)
    everything = data.validation()
    loss = nn.functional.cross_entropy(model(everything.inputs).flatten(0, 1), everything.targets.flatten())
    assert history["val/loss"].iloc[0] == pytest.approx(loss.item(), rel=1e-6)


def test_gradient_norms_are_those_of_autograd_before_clipping(folder_of: Prepared) -> None:
    folder = folder_of("trainer.gradient_clip_val=0.01")
    first = trained(folder).iloc[1]
    config = yaml.safe_load((folder / "config.yaml").read_text())
    data = build.data(config)
    model, _ = build.model(config, data.vocabulary)
    batch = data.train(4, 0, 0)
    nn.functional.cross_entropy(model(batch.inputs).flatten(0, 1), batch.targets.flatten()).backward()
    by_hand = torch.stack([p.grad.norm() for p in model.parameters() if p.grad is not None]).norm()
    assert first["gradient_norm/total"] == pytest.approx(by_hand.item(), rel=1e-5)
    assert first["gradient_norm/clipped"] == 1


def test_c21_clipping_bounds_the_update(folder_of: Prepared) -> None:
    free, clipped = (trained(folder_of(f"trainer.gradient_clip_val={clip}")) for clip in ("null", "1e-9"))
    assert free["gradient_norm/clipped"].sum() == 0
    assert clipped["gradient_norm/clipped"].mean() == 1
    assert abs(clipped["val/loss"].iloc[-1] - clipped["val/loss"].iloc[0]) < abs(
        free["val/loss"].iloc[-1] - free["val/loss"].iloc[0]
    )


def test_c23_accumulation_counts_optimizer_steps_and_all_tokens(folder_of: Prepared) -> None:
    history = trained(folder_of("trainer.accumulate_grad_batches=2", "batch_size=2"))
    assert history.step.to_list() == list(range(7))
    assert history.tokens.to_list() == [2 * 2 * 16 * step for step in range(7)]
    assert history["val/loss"].dropna().index.to_list() == [0, 3, 6]


@pytest.mark.parametrize("objective", ["causal_lm", "masked_lm"])
def test_c22_a_batch_in_pieces_is_the_same_batch(folder_of: Prepared, objective: str) -> None:
    plain = [f"objective={objective}", "objective.z_loss=0.1", "optimizer=sgd", "optimizer.lr=0.1", "mask=full"]
    whole = trained(folder_of(*plain, "batch_size=8"))
    pieces = trained(folder_of(*plain, "batch_size=2", "trainer.accumulate_grad_batches=4"))
    for measure in ("train/loss", "val/loss"):
        assert pieces[measure].dropna().to_list() == pytest.approx(whole[measure].dropna().to_list(), rel=1e-5)


def test_the_last_validation_is_of_the_trained_model_whatever_the_interval(folder_of: Prepared) -> None:
    history = trained(folder_of("trainer.val_check_interval=4"))
    assert history["val/loss"].dropna().index.to_list() == [0, 4, 6]
    assert history["val/loss"].iloc[6] == trained(folder_of())["val/loss"].iloc[6]


def test_a_clip_of_zero_is_none_as_lightning_has_it(folder_of: Prepared) -> None:
    zero, none = (trained(folder_of(f"trainer.gradient_clip_val={clip}")) for clip in ("0.0", "null"))
    pd.testing.assert_frame_equal(zero, none)


def test_c4_dropout_depends_on_seed_and_step_and_is_off_in_validation(folder_of: Prepared) -> None:
    dropping = ["model.dropout=0.5", "attention.dropout=0.5"]
    first, again, without = trained(folder_of(*dropping)), trained(folder_of(*dropping)), trained(folder_of())
    pd.testing.assert_frame_equal(first, again)
    assert first["val/loss"].iloc[0] == without["val/loss"].iloc[0]
    assert first["train/loss"].iloc[1] != without["train/loss"].iloc[1]


def test_a_task_records_when_it_was_solved(folder_of: Prepared) -> None:
    easy = ["data=lookup", "data.length=4", "data.vocabulary=2", "optimizer.lr=1e-2", "model.width=32"]
    history = trained(folder_of(*easy, "trainer.max_steps=300", "trainer.val_check_interval=50", "batch_size=64"))
    first = history["steps_to_solve"].dropna()
    assert first.to_list() == [history.step[history.solved == 1].iloc[0]]
    assert history["val/accuracy"].iloc[-1] >= 0.95


def test_a_torn_stream_reads_up_to_where_it_was_torn(tmp_path: Path) -> None:
    with Recorder(tmp_path, TRAINING, every=2) as recorder:
        for step in range(8):
            recorder.at(step, step)
            recorder.record("train/loss", torch.tensor(float(step)))
    whole = (tmp_path / STREAM).read_bytes()
    steps = []
    for end in range(0, len(whole), 7):
        (tmp_path / STREAM).write_bytes(whole[:end])
        history = read(tmp_path)
        steps.append(0 if history is None else len(history))
    assert steps == sorted(steps)
    assert set(steps) == {0, 2, 4, 6, 8}


@pytest.mark.parametrize("name", schedules.names())
def test_every_schedule_peaks_at_the_given_rate_and_takes_every_step(name: str) -> None:
    optimizer = torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=2.0)
    schedule, rates = schedules[name](optimizer, 100), []
    for _ in range(100):
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        schedule.step()
    assert max(rates) == pytest.approx(2.0)
    assert all(rate > 0 for rate in rates)
    assert rates[-1] <= rates[60]


MAPS = ("query.weight", "key.weight", "value.weight", "output.weight", "up.weight", "down.weight")
TABLES = ("embedding.weight", "position.table.weight")
SHRUNK = {Decay.linear: MAPS, Decay.matrices: (*MAPS, *TABLES), Decay.all: ("",)}


@pytest.mark.parametrize("decay", SHRUNK)
@pytest.mark.parametrize("name", optimizers.names())
def test_c18_c19_every_optimizer_has_each_parameter_once_and_decays_those_of_the_rule(
    folder_of: Prepared, name: str, decay: Decay
) -> None:
    words = ("readout=tied", "position=learned", "projection=smeared", f"optimizer={name}", f"optimizer.decay={decay}")
    config = yaml.safe_load((folder_of(*words) / "config.yaml").read_text())
    model: Decoder = build.model(config, 50)[0]
    optimizer = optimizers[name](model, weight_decay=0.3, decay=config["optimizer"]["decay"])
    members = [id(parameter) for group in optimizer.param_groups for parameter in group["params"]]
    assert sorted(members) == sorted(id(parameter) for parameter in model.parameters())
    names = [weight for weight, _ in model.named_parameters()]
    assert decays(model, optimizer).get(0.3) == [weight for weight in names if weight.endswith(SHRUNK[decay])]


def test_swapping_positions_or_tying_the_readout_changes_no_decay_of_linear_maps(folder_of: Prepared) -> None:
    def shrunk(*words: str) -> list[str]:
        config = yaml.safe_load((folder_of(*words) / "config.yaml").read_text())
        model = build.model(config, 50)[0]
        return decays(model, optimizers["adamw"](model, decay=Decay.linear))[0.1]

    swapped = ("position=learned", "position=t5", "position=none", "readout=tied", "readout=untied")
    assert all(shrunk(word) == shrunk() for word in swapped)


def test_a_plugins_weights_decay_by_their_axes_where_their_role_is_not_known() -> None:
    class Mixed(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.matrix = nn.Parameter(torch.ones(3, 4))
            self.per_head = nn.Parameter(torch.ones(3, 1, 1))
            self.cell, self.table, self.narrow = nn.GRU(2, 3), nn.Embedding(1, 4), nn.Linear(4, 1)

    of_role = {role: [name for name, each in roles(Mixed()).items() if each == role] for role in Role}
    assert of_role[Role.map] == ["matrix", "cell.weight_ih_l0", "cell.weight_hh_l0", "narrow.weight"]
    assert of_role[Role.table] == ["table.weight"]
    assert of_role[Role.vector] == ["per_head", "cell.bias_ih_l0", "cell.bias_hh_l0", "narrow.bias"]


def test_muon_gives_matrices_in_layers_an_orthogonal_step(folder_of: Prepared) -> None:
    config = yaml.safe_load((folder_of("optimizer=muon") / "config.yaml").read_text())
    model: Decoder = build.model(config, 50)[0]
    weight: Any = model.get_submodule("layers.0.ffn.branch.up").weight
    before = weight.detach().clone()
    optimizer = optimizers["muon"](model, lr=1.0, weight_decay=0.0)
    model(torch.arange(50).view(5, 10)).square().sum().backward()
    optimizer.step()
    sizes = torch.linalg.svdvals((before - weight.detach()) / (0.2 * max(weight.shape) ** 0.5))
    assert 0.5 < float(sizes.median()) < 1.3


def test_divergence_is_a_result(folder_of: Prepared) -> None:
    folder = folder_of("optimizer.lr=1e30", "trainer.max_steps=200", "trainer.gradient_clip_val=null")
    trained(folder)
    summary = trial.json.loads((folder / "summary.json").read_text())
    assert summary["status"] == "diverged"
    assert 0 < summary["diverged_step"] < 10
    assert summary["steps"] < 200


def test_the_schedule_is_its_formula() -> None:
    optimizer = torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=2.0)
    schedule = schedules["warmup_cosine"](optimizer, 20, warmup=5, final=0.1)
    rates = []
    for _ in range(20):
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        schedule.step()
    rise = [2.0 * (t + 1) / 5 for t in range(5)]
    fall = [2.0 * (0.1 + 0.9 * (1 + math.cos(math.pi * t / 15)) / 2) for t in range(15)]
    assert rates == pytest.approx([*rise, *fall], rel=1e-6)


@pytest.mark.parametrize("warmup", [0, 1])
def test_a_schedule_without_a_rise_starts_at_the_peak(warmup: int) -> None:
    optimizer = torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=2.0)
    schedules["warmup_cosine"](optimizer, 20, warmup=warmup)
    assert optimizer.param_groups[0]["lr"] == 2.0


def test_a_warmup_that_leaves_no_step_is_refused() -> None:
    optimizer = torch.optim.SGD([nn.Parameter(torch.zeros(1))], lr=2.0)
    with pytest.raises(ValueError, match=r"warmup=20 must .* below trainer.max_steps=20"):
        schedules["warmup_cosine"](optimizer, 20, warmup=20)


def test_c30_ignored_targets_count_for_nothing() -> None:
    logits = torch.randn(1, 3, 7, generator=torch.Generator().manual_seed(0))
    losses = objectives["causal_lm"]()(logits, torch.tensor([[2, IGNORED, 4]]))
    assert losses[0, 1] == 0
    assert losses[0, 0] == pytest.approx(-logits[0, 0].log_softmax(-1)[2].item())


def test_c30_a_batch_without_targets_contributes_zero() -> None:
    batch = Batch.of(torch.zeros(1, 3, dtype=torch.long), torch.full((1, 3), IGNORED))
    objective, logits = objectives["causal_lm"](z_loss=1.0), torch.zeros(1, 3, 7)
    assert objective(logits, batch.targets).sum() / batch.scored == 0
    assert objective.penalty(logits, batch.targets, batch.scored) == 0


def test_z_loss_is_the_square_of_the_log_of_the_denominator() -> None:
    objective = objectives["causal_lm"](z_loss=0.5)
    targets = torch.tensor([[1, IGNORED, 2]])
    batch = Batch.of(torch.zeros(1, 3, dtype=torch.long), targets)
    penalty = objective.penalty(torch.zeros(1, 3, 7), targets, batch.scored)
    assert float(penalty) == pytest.approx(0.5 * math.log(7) ** 2)


def test_masked_targets_are_the_hidden_tokens_and_no_others() -> None:
    objective = objectives["masked_lm"](share=0.5)
    tokens = torch.randint(9, (200, 16), generator=torch.Generator().manual_seed(0))
    posed = objective.pose(Batch.of(tokens, tokens), 9, torch.Generator().manual_seed(1))
    hidden = posed.targets != IGNORED
    assert torch.equal(posed.targets[hidden], tokens[hidden])
    assert torch.equal(posed.inputs[~hidden], tokens[~hidden])
    assert float(hidden.float().mean()) == pytest.approx(0.5, abs=0.03)
    assert float((posed.inputs[hidden] == 9).float().mean()) == pytest.approx(0.8, abs=0.03)


def test_c28_batches_depend_on_seed_and_step_alone_and_targets_are_the_next_tokens() -> None:
    data = datas["pydoc"](16)
    first, again, later, other = (data.train(4, *at) for at in ((0, 5), (0, 5), (0, 6), (1, 5)))
    assert torch.equal(first.inputs, again.inputs)
    assert not torch.equal(first.inputs, later.inputs)
    assert not torch.equal(first.inputs, other.inputs)
    assert torch.equal(first.inputs[:, 1:], first.targets[:, :-1])


def test_training_and_validation_share_no_token(tmp_path: Path) -> None:
    path = tmp_path / "letters.txt"
    path.write_text("a" * 900 + "b" * 100)
    data = datas["text"](16, path=path)

    def values(batch: Batch) -> set[int]:
        return {*batch.inputs.flatten().tolist(), *batch.targets.flatten().tolist()}

    assert {value for step in range(50) for value in values(data.train(8, 0, step))} == {0}
    assert values(data.validation()) == {1}


def test_bytes_and_characters(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_text("aü" * 100, encoding="utf-8")
    characters, octets = (datas["text"](8, path=path, unit=unit) for unit in ("characters", "bytes"))
    assert (characters.vocabulary, octets.vocabulary) == (2, 256)
    assert octets.train(1, 0, 0).inputs.unique().tolist() == [97, 188, 195]
    assert characters.content != octets.content


def test_words_are_the_most_frequent_of_the_training_part(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_text("to be, or not to be: " * 60 + "unheard " * 10, encoding="utf-8")
    data = datas["text"](8, path=path, unit="words", words=5, validation=0.05)
    assert data.vocabulary == 5
    assert datas["text"](8, path=path, unit="words").vocabulary == 7, "what the text has, and the unknown"
    held_out = data.validation()
    assert held_out.targets.flatten()[-8:].tolist() != [0] * 8
    assert set(data.train(64, 0, 0).inputs.unique().tolist()) == {0, 1, 2, 3, 4}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"x" * 20, r"training text has 18 tokens, fewer than the 65"),
        (b"\xff\xfe" * 99, r"not UTF-8 text .*data.unit=bytes"),
    ],
)
def test_c36_a_text_that_cannot_serve_is_refused(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "text.txt"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=words):
        datas["text"](64, path=path)
