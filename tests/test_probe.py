"""Asking models: trained ones for texts, maps and measures, untrained ones for how they start."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

from analysis import maps
from experiments.attention_scores import induction, previous_token, repeated
from experiments.sample import continued
from experiments.trained import opened
from tests.conftest import QUICK, Command, called, trained

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*LeafSpec:FutureWarning"),
]
WORDS = (
    "data=text",
    *QUICK,
    "diagnostic=[gradient_norm,attention_map]",
    "runtime.tracking_uri=none",
    "study.name=asked",
)


@pytest.fixture(scope="module")
def home(text: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("asked")
    ran = called(folder, "run", *WORDS, f"data.path={text}")
    assert ran.returncode == 0, ran.stderr
    return folder


@pytest.fixture(scope="module")
def trial(home: Path) -> Path:
    return next((home / "results" / "trials").iterdir())


def test_a_model_goes_on_as_its_logits_say(home: Path, trial: Path) -> None:
    _, data, task = opened(trial)
    prompt = data.alphabet.read("the cat")
    found = continued(task.model, prompt, 12, 0.0, torch.Generator())
    for place in range(7, 19):
        logits = task.model(found[None, max(0, place - 16) : place])[0, -1]
        assert found[place] == logits.argmax()
    said = called(home, "sample", trial.name[:5], "--prompt", "the cat", "--tokens", "12", "--temperature", "0")
    assert said.stdout == data.alphabet.text(found.tolist()) + "\n"


def test_what_is_drawn_depends_on_the_seed_alone(home: Path, trial: Path) -> None:
    first, again, other = (
        called(home, "sample", trial.name, "--prompt", "the", "--tokens", "40", "--seed", seed).stdout for seed in "001"
    )
    assert first == again != other
    assert first.startswith("the") and len(first) == 44


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("sample", "TRIAL", "--prompt", "the kéy"), r"'é' is no token of these data; there are: ' ' , \. a b"),
        (("sample", "TRIAL", "--prompt", ""), "--prompt is empty"),
        (("sample", "nothing", "--prompt", "a"), "there is no trial 'nothing'; there are: "),
        (("sample", "TRIAL", "--prompt", "a", "--temperature", "-1"), "--temperature -1.0: must be at least 0"),
        (("probe", "TRIAL", "--prompt", "the cat sat on the keys"), "has 23 tokens, model.context=16"),
        (("probe", "TRIAL", "--diagnostic", "zero_ablatoin"), r"did you mean 'zero_ablation'\?"),
        (("probe", "TRIAL", "--diagnostic", "loss_spikes"), "only measured while a model is trained"),
    ],
)
def test_mistakes_get_a_sentence(home: Path, trial: Path, words: tuple[str, ...], sentence: str) -> None:
    ran = called(home, *(trial.name if word == "TRIAL" else word for word in words))
    assert ran.returncode == 1
    assert re.search(sentence, ran.stderr), ran.stderr


def test_a_map_is_what_the_model_attends_to(home: Path, trial: Path) -> None:
    ran = called(home, "probe", trial.name, "--prompt", "the keys")
    assert "the keys: no previous-token head (best " in ran.stdout
    _, data, task = opened(trial)
    found = maps.read(trial / "attention" / "probe.0.npz")
    assert "".join(found.tokens) == "the keys"
    tokens = data.alphabet.read("the keys")[None]
    x = task.model.states(tokens)[0]
    mixer = task.model.layers[0].mixer  # pyright: ignore
    q, k, _ = mixer.branch.projection(mixer.before(x))  # pyright: ignore
    rotate = task.model.position.rotate  # pyright: ignore
    scores = (rotate(q) @ rotate(k).transpose(-2, -1) / 2).masked_fill(torch.ones(8, 8).triu(1).bool(), -torch.inf)  # pyright: ignore
    assert found.shares["layers.0"] == pytest.approx(scores.softmax(-1)[0].detach().numpy(), abs=1e-3)
    page = (trial / "attention.html").read_text()
    assert page.count("<svg") == 1 and "Who looks at whom" in page


def test_training_leaves_maps_before_and_after_and_the_page_shows_them(home: Path, trial: Path) -> None:
    assert [step for step, _ in maps.steps(trial)] == [0, 6]
    page = (home / "results" / "studies" / "asked" / "report.html").read_text()
    assert "baseline, seed 0, after step 0: " in page
    assert "baseline, seed 0, after step 6: " in page


def test_a_finished_trial_is_measured_as_it_would_have_been(home: Path, trial: Path) -> None:
    ran = called(home, "probe", trial.name, "--diagnostic", "position_loss", "--diagnostic", "attention_map")
    history = pd.read_parquet(trial / "history.parquet")
    losses = [float(line.split()[1]) for line in ran.stdout.splitlines() if "_of_8" in line]
    assert np.mean(losses) == pytest.approx(history["val/loss"].iloc[-1], rel=1e-3)
    shown = next(line for line in ran.stdout.splitlines() if line.startswith("attention_map/previous_token "))
    assert float(shown.split()[1]) == pytest.approx(history["attention_map/previous_token"].iloc[-1], rel=1e-3)


def test_heads_are_called_by_what_they_do() -> None:
    tokens = repeated(20, 16, 3)
    assert torch.equal(tokens[:, :8], tokens[:, 8:])
    back, after = torch.zeros(3, 2, 16, 16), torch.zeros(3, 2, 16, 16)
    back[:, 1] = torch.eye(16).roll(-1, 1)
    for query in range(8, 16):
        after[:, 0, query, query - 8 + 1] = 1.0
    assert previous_token(back).tolist() == [0, 1]
    assert induction(after).tolist() == [1, 0]
    scores = {"previous_token": {"layers.0": np.array([0.1, 0.9])}, "induction": {"layers.0": np.array([0.2, 0.05])}}
    said = maps.told(maps.Maps(["a"], {"layers.0": np.ones((2, 1, 1))}, scores))
    assert said == "previous-token head: layer 0, head 1 (0.90); no induction head (best 0.20)"


def test_untrained_models_are_measured_where_they_start(command: Command, tmp_path: Path) -> None:
    small = ("data=iid", "model.width=16", "model.context=16", "batch_size=4", "runtime.tracking_uri=none")
    words = ("norm=layernorm,none", "study.endpoints={stream/rank/layers.1: final}", "study.name=start", *small)
    ran = command("probe", *words)
    assert ran.returncode == 0, ran.stderr
    assert "2 arms × 1 seed = 2 trials" in ran.stdout
    for history in (pd.read_parquet(path) for path in tmp_path.glob("results/trials/*/history.parquet")):
        assert history.step.to_list() == [0, 1]
        assert history["val/loss"].iloc[0] == history["val/loss"].iloc[1]
        assert history["stream/rank/layers.1"].notna().all()
        assert history["matrix_gradient/last.ffn.up"].iloc[1] > 0
    assert not list(tmp_path.rglob("*.pt"))


def test_a_finished_trial_that_lacks_a_measure_is_run_again_only_on_request(command: Command, tmp_path: Path) -> None:
    words = ("run", *QUICK, "runtime.tracking_uri=none", "study.name=more")
    assert trained(command(*words, "diagnostic=[]")) == 1
    ran = command(*words, "diagnostic=[gradient_norm]")
    assert trained(ran) == 0
    assert "1 of the finished trials did not measure gradient_norm/total, which runtime.unmeasured=again" in ran.stdout
    assert trained(command(*words, "diagnostic=[gradient_norm]", "runtime.unmeasured=again")) == 1
    (folder,) = (tmp_path / "results" / "trials").iterdir()
    before, after = (pd.read_parquet(home / "history.parquet") for home in (folder / "attempts" / "0", folder))
    pd.testing.assert_frame_equal(before, after[before.columns])
    assert after["gradient_norm/total"].notna().any()
    assert trained(command(*words, "diagnostic=[gradient_norm]", "runtime.unmeasured=again")) == 0
