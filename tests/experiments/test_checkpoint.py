"""A trial that was stopped goes on to the same history, bit for bit; what it leaves holds plain types."""

import json
import pickletools
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import torch
import yaml

from experiments import trial
from experiments.checkpoint import BEST, WEIGHTS, Checkpoint, keep
from experiments.folder import CHECKPOINT
from experiments.recorder import TABLE, read

Prepared = Callable[..., Path]
pytestmark = pytest.mark.filterwarnings("ignore:.*LeafSpec:FutureWarning")  # Lightning's own, with this torch


def after(steps: int) -> Callable[[], bool]:
    """A wish to stop that comes with the `steps`-th step."""
    asked: Iterator[bool] = (step >= steps for step in range(1, 10_000))
    return lambda: next(asked)


def stopped(folder: Path, steps: int) -> None:
    with pytest.raises(SystemExit, match=f"stopped after step {steps}, to be continued from there"):
        trial.train(folder, stopping=after(steps))


ARMS = {
    "baseline": (),
    "muon": ("optimizer=muon",),
    "sgd, dropout": ("optimizer=sgd", "model.dropout=0.3", "attention.dropout=0.3"),
    "accumulation": ("batch_size=2", "trainer.accumulate_grad_batches=2"),
    "task": ("data=copy", "data.symbols=4"),
    "wsd": ("schedule=wsd", "objective=masked_lm", "mask=full"),
    "bfloat16": ("trainer.precision=bf16-mixed",),
}


@pytest.mark.parametrize(
    ("words", "steps"), [*((words, 3) for words in ARMS.values()), ((), 1), ((), 5)], ids=[*ARMS, "first", "last"]
)
def test_c28_a_stopped_trial_ends_as_an_undisturbed_one(
    folder_of: Prepared, words: tuple[str, ...], steps: int
) -> None:
    undisturbed, broken = folder_of(*words), folder_of(*words)
    trial.train(undisturbed)
    stopped(broken, steps)
    trial.train(broken)
    assert (broken / TABLE).read_bytes() == (undisturbed / TABLE).read_bytes()
    assert (broken / WEIGHTS).read_bytes() == (undisturbed / WEIGHTS).read_bytes()
    assert json.loads((broken / "summary.json").read_text())["resumed_from"] == steps
    assert not (broken / CHECKPOINT).exists()


def test_stopping_twice_is_the_same(folder_of: Prepared) -> None:
    undisturbed, broken = folder_of(), folder_of()
    trial.train(undisturbed)
    stopped(broken, 2)
    with pytest.raises(SystemExit, match="stopped after step 4"):
        trial.train(broken, stopping=after(2))
    trial.train(broken)
    assert (broken / TABLE).read_bytes() == (undisturbed / TABLE).read_bytes()


def test_a_divergence_ends_where_it_does_whenever_it_is_noticed(folder_of: Prepared) -> None:
    words = ("optimizer.lr=1e30", "trainer.max_steps=200", "trainer.gradient_clip_val=null")
    undisturbed, broken = folder_of(*words), folder_of(*words)
    trial.train(undisturbed)
    stopped(broken, 1)
    trial.train(broken)
    assert (broken / TABLE).read_bytes() == (undisturbed / TABLE).read_bytes()
    history = read(broken)
    assert history is not None
    assert history["step"][-1].as_py() == json.loads((broken / "summary.json").read_text())["diverged_step"]


def test_a38_a_checkpoint_loads_with_weights_only_and_holds_no_type_of_ours(folder_of: Prepared) -> None:
    folder = folder_of("optimizer=muon")
    stopped(folder, 3)
    torch.load(folder / CHECKPOINT, weights_only=True)
    with zipfile.ZipFile(folder / CHECKPOINT) as archive:
        (pickled,) = (name for name in archive.namelist() if name.endswith("data.pkl"))
        words = {str(arg) for _, arg, _ in pickletools.genops(archive.read(pickled)) if isinstance(arg, str)}
    assert not [word for word in words if word.startswith(("omegaconf", "experiments", "components", "lightning"))]


def test_e10_weights_are_kept_up_to_a_limit(tmp_path: Path) -> None:
    model = torch.nn.Linear(1000, 25, bias=False)  # 0.1 MB
    for number in range(5):
        (tmp_path / str(number)).mkdir()
        keep(tmp_path / str(number), model, 0.00025)
    assert len(list(tmp_path.glob(f"*/{WEIGHTS}"))) == 2


def test_no_checkpoint_and_one_of_other_code_are_no_place_to_go_on_from(folder_of: Prepared, tmp_path: Path) -> None:
    assert Checkpoint.read(tmp_path, "") is None
    folder = folder_of()
    stopped(folder, 3)
    config = yaml.safe_load((folder / "config.yaml").read_text())
    assert Checkpoint.read(folder, config["code"]) is not None
    assert Checkpoint.read(folder, "changed") is None


def test_a_long_trial_keeps_the_weights_of_its_lowest_validation_loss(folder_of: Prepared) -> None:
    words = ("trainer.val_check_interval=4", "optimizer.lr=0.1", "schedule=constant", "runtime.checkpoint_minutes=0")
    longer, without = (
        folder_of(*words, "trainer.max_steps=24"),
        folder_of(*words, "trainer.max_steps=24", "runtime.keep_gb=0"),
    )
    trial.train(longer)
    trial.train(without)
    history = read(longer)
    assert history is not None
    seen = {row["step"]: row["val/loss"] for row in history.to_pylist() if row["val/loss"] is not None}
    lowest = min(seen, key=lambda step: seen[step])
    assert 0 < lowest < 24
    assert json.loads((longer / "summary.json").read_text())["best_step"] == lowest

    shorter = folder_of(*words, f"trainer.max_steps={lowest}")
    trial.train(shorter)
    best, last = (torch.load(path, weights_only=True) for path in (longer / BEST, shorter / WEIGHTS))
    assert all(torch.equal(best[name], last[name]) for name in last)
    assert not (shorter / BEST).exists()
    assert not list(without.glob("*.pt"))
