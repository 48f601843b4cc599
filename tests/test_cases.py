"""What goes wrong for people elsewhere, each by its number."""

import contextlib
import json
import shlex
import shutil
import sqlite3
from pathlib import Path

import pytest
import yaml

from experiments.folder import safe
from tests.conftest import QUICK, Command, called, trained, typed

ODD = "日本 語 a#1 50% me@x p/q"


@pytest.fixture(scope="module")
def home(text: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ten trials of a study with an odd name, on a text given by a relative path, in a database given so too."""
    folder = tmp_path_factory.mktemp("with a space ü")
    shutil.copy(text, folder / "text.txt")
    words = ("run", *QUICK, "data=text", "data.path=text.txt", f"study.name='{ODD}'", "seed=range(10)")
    ran = called(folder, *words, "runtime.tracking_uri=sqlite:///here.db")
    assert trained(ran) == 10, ran.stderr
    return folder


def test_a9_a10_a18_names_survive_and_a_study_is_one_flat_folder(home: Path) -> None:
    (study,) = (home / "results" / "studies").iterdir()
    assert ODD in (study / "study.yaml").read_text(encoding="utf-8")
    assert ODD in (study / "report.html").read_text(encoding="utf-8")
    assert called(home, "report", ODD).returncode == 0


def test_a29_a_line_is_logged_once(home: Path) -> None:
    for log in home.glob("results/trials/*/trial.log"):
        assert log.read_text().count("`max_steps=6` reached") == 1


def test_a42_relative_paths_mean_the_folder_of_the_command(home: Path) -> None:
    inside = home / "inside"
    inside.mkdir()
    words = ("run", *QUICK, "data=text", "data.path=../text.txt", f"study.name='{ODD}'", "seed=range(10)")
    again = called(inside, *words, "runtime.results=../results", "runtime.tracking_uri=sqlite:///../here.db")
    assert trained(again) == 0, again.stderr
    assert not list(inside.iterdir())
    assert (home / "here.db").exists()


def test_a43_trials_leave_no_memory_behind(home: Path) -> None:
    peaks = [json.loads(path.read_text())["peak_memory_mb"] for path in home.glob("results/trials/*/summary.json")]
    assert max(peaks) < 1.1 * min(peaks)


def test_b17_a_folder_that_was_moved_has_lost_nothing(home: Path, tmp_path: Path) -> None:
    shutil.copytree(home, tmp_path / "moved")
    (study,) = (tmp_path / "moved" / "results" / "studies").iterdir()
    before = (study / "report.html").read_bytes()
    assert called(tmp_path, "report", study.name, "--results", "moved/results").returncode == 0
    assert (study / "report.html").read_bytes() == before
    words = ("run", *QUICK, "data=text", "data.path=text.txt", "seed=range(10)", "runtime.tracking_uri=none")
    assert trained(called(tmp_path / "moved", *words)) == 0


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("norm=None",), "there is no norm 'None' (did you mean 'none'?)"),
        (("study.endpoints={val/los: final}",), "there is no measure 'val/los' (did you mean 'val/loss'?)"),
        (("seed=null",), "seed"),
    ],
    ids=["a11", "a21", "a46"],
)
def test_a11_a21_a46_are_refused_before_anything_trains(
    command: Command, tmp_path: Path, words: tuple[str, ...], sentence: str
) -> None:
    ran = command("run", *QUICK, *words)
    assert ran.returncode == 1
    assert sentence in ran.stderr
    assert not list(tmp_path.glob("results/trials/*"))


def test_b30_a_database_of_another_mlflow_costs_a_warning_that_names_the_way_out(home: Path, tmp_path: Path) -> None:
    shutil.copytree(home, tmp_path / "other")
    with contextlib.closing(sqlite3.connect(tmp_path / "other" / "here.db")) as base:
        base.execute("update alembic_version set version_num = 'abcdef'")
        base.commit()
    ran = typed(tmp_path / "other", "sync", "--uri", "sqlite:///here.db")
    assert ran.returncode == 1
    assert "Take a backup of your database, then run 'mlflow db upgrade" in ran.stdout + ran.stderr


def test_a7_a19_a35_e17_names_of_files_are_short_flat_and_quote_free(home: Path) -> None:
    names = [path.name for path in (home / "results").rglob("*")]
    assert not [name for name in names if "=" in name or len(name.encode()) > 255]
    assert not list((home / "results" / "trials").glob("*/*.ckpt"))
    assert len(safe("x" * 300).encode()) <= 255
    assert safe("x" * 300) != safe("x" * 301)


def test_a25_a37_a40_a41_saved_configurations_are_plain_resolved_yaml(home: Path) -> None:
    for path in home.glob("results/trials/*/config.yaml"):
        text = path.read_text(encoding="utf-8")
        assert "${" not in text and "???" not in text and "!!" not in text
        assert yaml.safe_load(text)["optimizer"]["betas"] == [0.9, 0.95]


def test_a36_a45_every_seed_is_a_trial_that_says_which_it_was(home: Path) -> None:
    said = [json.loads(path.read_text())["seeds"] for path in home.glob("results/trials/*/summary.json")]
    assert sorted(each["seed"] for each in said) == list(range(10))
    assert all(each["seed"] == each["init_seed"] == each["data_seed"] for each in said)


def test_b5_b22_all_is_in_the_one_database_and_nothing_strays(home: Path) -> None:
    assert not list(home.rglob("mlruns")) and not list(home.rglob("mlflow.db"))
    with contextlib.closing(sqlite3.connect(home / "here.db")) as base:
        names = [name for (name,) in base.execute("select name from runs")]
    assert len(names) == 11 and len(set(names)) == 11


def test_e15_the_folder_alone_says_what_was_typed(home: Path) -> None:
    (study,) = (home / "results" / "studies").iterdir()
    command = shlex.split(yaml.safe_load((study / "study.yaml").read_text(encoding="utf-8"))["command"])
    assert command[:2] == ["knockout", "run"] and "seed=range(10)" in command and f"study.name='{ODD}'" in command
