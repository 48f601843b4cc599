"""The loss at lengths that a model was not trained on, on the last positions alone (claim H7)."""

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
import torch
import yaml
from omegaconf import DictConfig
from torch import nn

from experiments import build, trial
from experiments.diagnostic import diagnostics
from experiments.identity import understood
from experiments.recorder import TABLE
from experiments.task import LanguageModeling

LONGER = ("diagnostic=[gradient_norm,extrapolation]", "diagnostic.extrapolation.lengths=[16,48]")
pytestmark = pytest.mark.filterwarnings("ignore:.*LeafSpec:FutureWarning")  # Lightning's own, with this torch


def test_h7_the_loss_at_a_length_is_that_of_its_last_positions(
    folder_of: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[nn.Module] = []
    end = LanguageModeling.on_train_end
    monkeypatch.setattr(LanguageModeling, "on_train_end", lambda task: (end(task), kept.append(task.model))[0])
    folder = folder_of(*LONGER, "diagnostic.extrapolation.last=4", "position=alibi")
    trial.train(folder)
    history = pd.read_parquet(folder / TABLE)
    config = yaml.safe_load((folder / "config.yaml").read_text())
    for length in (16, 48):
        held_out = build.data_at(config, length).validation()
        with torch.no_grad():
            logits = kept[0](held_out.inputs)[:, -4:].double()
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), held_out.targets[:, -4:].flatten())
        assert history[f"extrapolation/{length}"].dropna().to_list() == pytest.approx([loss.item()], rel=1e-5)


def test_it_changes_no_trial(compose: Callable[..., DictConfig]) -> None:
    assert understood(compose(*LONGER)).trial(0)[0] == understood(compose()).trial(0)[0]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("position=learned",), "a sequence of 48 tokens is longer than the context of 16"),
        (("data=copy", "model.context=32"), "sequences of these data have 16 tokens whatever the context, none has 48"),
        (("diagnostic.extrapolation.last=20",), "length 16 has no last 20 positions"),
    ],
)
def test_lengths_that_cannot_be_are_refused_before_training(
    compose: Callable[..., DictConfig], words: tuple[str, ...], sentence: str
) -> None:
    chosen = [*LONGER, *words, *(["diagnostic.extrapolation.lengths=[48]"] if "data=copy" in words else [])]
    with pytest.raises(ValueError, match=sentence):
        understood(compose(*{word.partition("=")[0]: word for word in chosen}.values()))


def test_the_default_lengths_are_one_two_and_four_contexts_of_the_baseline() -> None:
    assert diagnostics.knobs("extrapolation")["lengths"][1] == (64, 128, 256)
