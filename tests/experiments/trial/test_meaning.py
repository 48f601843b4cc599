"""What a trial's numbers are about, bits per byte, and the step at which a trial diverged."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from analysis.record.history import read_history
from analysis.record.measure import TRAINING
from experiments.data import IGNORED, datas
from experiments.objective import objectives
from experiments.trial.meaning import scored_bytes, trial_meaning
from experiments.trial.recorder import Recorder
from tests.experiments.trial.test_training import trained

pytestmark = pytest.mark.filterwarnings("ignore:.*LeafSpec:FutureWarning")  # Lightning's own, with this torch
CAUSAL = objectives["causal_lm"]()


def meaning(context: int = 16, objective: Any = CAUSAL, name: str = "text", **knobs: Any) -> dict[str, str]:
    return trial_meaning({"name": name, **knobs}, datas[name](context, **knobs), objective)


def apart(first: dict[str, str], second: dict[str, str]) -> set[str]:
    return {facet for facet in first if first[facet] != second[facet]}


def test_f2_each_setting_moves_the_facets_it_should(text: Path) -> None:
    base = meaning(path=text)
    assert apart(base, meaning(path=text)) == set()
    assert apart(base, meaning(path=text, unit="words")) == {"vocabulary", "data", "validation"}
    assert apart(base, meaning(context=32, path=text)) == {"validation", "context"}
    assert apart(base, meaning(path=text, validation=0.2)) == {"data", "validation", "text"}
    assert apart(base, meaning(objective=objectives["causal_lm"](z_loss=0.1), path=text)) == set()
    assert apart(base, meaning(objective=objectives["masked_lm"](), path=text)) == {"validation", "objective"}
    few, many = (meaning(objective=objectives["masked_lm"](share=share), path=text) for share in (0.15, 0.5))
    assert apart(few, many) == {"validation", "objective"}


def test_a_path_says_nothing_of_what_is_measured(text: Path, tmp_path: Path) -> None:
    (tmp_path / "copy.txt").write_bytes(text.read_bytes())
    assert meaning(path=text) == meaning(path=tmp_path / "copy.txt")


def test_a_task_means_the_same_at_any_context_and_spells_no_text() -> None:
    short, long = (meaning(context=context, name="recall") for context in (32, 64))
    assert short == long and "text" not in short


@pytest.mark.parametrize("unit", ["characters", "bytes", "words"])
def test_f2_the_bytes_of_scored_targets_are_those_of_the_text(tmp_path: Path, unit: str) -> None:
    path, whole = tmp_path / "text.txt", "ein Häuschen — für  die Katze, €5; " * 300
    path.write_text(whole, encoding="utf-8")
    data = datas["text"](8, path=path, unit=unit, words=5)
    spelled = scored_bytes(data, CAUSAL)
    held_out = whole[len(whole) - round(0.1 * len(whole)) :]
    windows = (data.validation().targets != IGNORED).sum()
    assert spelled is not None
    if unit == "bytes":
        assert spelled == int(windows)
    assert len(held_out.encode()) * 0.9 < spelled <= len(held_out.encode()), "but for the first token and the tail"
    assert scored_bytes(data, objectives["masked_lm"]()) is None


def test_f2_every_unit_validates_the_same_part_of_a_text(tmp_path: Path) -> None:
    path, whole = tmp_path / "text.txt", "abc " * 500 + "äöü " * 500
    path.write_text(whole, encoding="utf-8")
    units = {unit: datas["text"](8, path=path, unit=unit) for unit in ("characters", "bytes", "words")}
    assert len({data.text for data in units.values()}) == 1
    first = {unit: data.vocabulary.decode(data.validation().inputs[0].tolist()) for unit, data in units.items()}
    start = len(whole) - round(0.1 * len(whole))
    assert all(whole[start:].startswith(text.rstrip("�")) for text in first.values()), first


def test_line_ends_that_reading_changes_make_another_text(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_bytes(b"one two three\r\n" * 50)
    characters, as_bytes = (datas["text"](8, path=path, unit=unit).text for unit in ("characters", "bytes"))
    assert characters != as_bytes


def test_bits_per_byte_of_ascii_characters_are_nats_over_ln_2(folder_of: Callable[..., Path]) -> None:
    history = trained(folder_of())
    wanted = (history["val/loss"] / math.log(2)).dropna().to_list()
    assert history["val/bits_per_byte"].dropna().to_list() == pytest.approx(wanted)


@pytest.mark.parametrize("name", ["train/loss", "gradient"])
def test_f9_the_first_step_without_a_finite_number_is_exact_and_known_at_once(tmp_path: Path, name: str) -> None:
    with Recorder(tmp_path, TRAINING) as recorder:
        for step in range(6):
            recorder.begin_step(step, step)
            value = torch.tensor(math.nan if step == 3 else 1.0)
            recorder.record("train/loss", value if name == "train/loss" else torch.tensor(1.0))
            recorder.require_finite(value if name == "gradient" else torch.tensor(1.0))
            assert recorder.is_alarmed == (step >= 3)
        recorder.flush()
        assert recorder.diverged == 3
    history = read_history(tmp_path)
    assert history is not None and history["step"].to_pylist() == [0, 1, 2, 3]
