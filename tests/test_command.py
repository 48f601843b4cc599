"""The command as a person types it: real processes, real files, a real database."""

import sqlite3
import sys
from pathlib import Path

import pytest
import yaml

from tests.conftest import QUICK, Command, called, runs, trained, typed

SWEEP = ("norm=layernorm,rmsnorm", "placement=pre,post", "seed=range(2)")


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory, text: Path) -> Path:
    """A folder in which a sweep of two axes and two seeds on a text has run."""
    folder = tmp_path_factory.mktemp("swept")
    ran = called(folder, "run", "-m", *SWEEP, "data=text", f"data.path={text}", *QUICK)
    assert ran.returncode == 0, ran.stderr
    assert "4 arms × 2 seeds = 8 trials, 0 finished, 8 to train" in ran.stdout
    assert "8 done, 0 running, 0 failed, 0 left" in ran.stdout
    assert not ran.stderr
    return folder


def test_every_trial_is_whole(swept: Path) -> None:
    folders = list((swept / "results" / "trials").iterdir())
    assert len(folders) == 8
    for folder in folders:
        assert {path.name for path in folder.iterdir()} == {
            "config.yaml",
            "history.parquet",
            "summary.json",
            "trial.log",
            "weights.pt",
        }


def test_there_is_one_page(swept: Path) -> None:
    (page,) = (swept / "results" / "studies").glob("*/report.html")
    assert "norm=rmsnorm, placement=post" in page.read_text()


def test_mlflow_has_a_run_a_trial_under_one_parent(swept: Path) -> None:
    found = runs(swept)
    (parent,) = (run for run in found if "mlflow.parentRunId" not in run)
    children = [run for run in found if run.get("mlflow.parentRunId") == parent["id"]]
    assert len(children) == 8
    assert {run["state"] for run in found} == {"FINISHED"}
    assert {run["name"] for run in children} >= {"norm=rmsnorm · seed 1", "norm=layernorm, placement=pre · seed 0"}


def test_mlflow_has_the_values_of_the_record(swept: Path) -> None:
    import pandas as pd

    base = sqlite3.connect(swept / "results" / "mlflow.db")
    child = next(run for run in runs(swept) if run["name"] == "norm=rmsnorm · seed 1")
    logged = base.execute(
        "select step, value from metrics where run_uuid=? and key='val/loss' order by step", [child["id"]]
    )
    history = pd.read_parquet(swept / "results" / "trials" / child["trial"] / "history.parquet")
    kept = history[["step", "val/loss"]].dropna()
    assert logged.fetchall() == list(zip(kept.step.to_list(), kept["val/loss"].to_list(), strict=True))


def test_effects_and_page_are_with_the_parent(swept: Path) -> None:
    base = sqlite3.connect(swept / "results" / "mlflow.db")
    keys = {key for (key,) in base.execute("select distinct key from metrics where key like 'effect/%'")}
    assert "effect/norm:3d:rmsnorm/val/loss" in keys
    assert list((swept / "results" / "mlartifacts").rglob("report.html"))


def test_nothing_lies_beside_the_results(swept: Path) -> None:
    assert [path.name for path in swept.iterdir()] == ["results"]


def test_again_trains_nothing_and_the_module_is_the_same_command(swept: Path, text: Path) -> None:
    before = len(runs(swept))
    words = ("-m", *SWEEP, "data=text", f"data.path={text}", *QUICK)
    again = typed(swept, *words, program=("-m", "experiments.run"))
    assert trained(again) == 0
    assert len(runs(swept)) == before


def test_a_question_a_diagnostic_and_a_moved_file_train_nothing_and_a_seed_only_itself(swept: Path, text: Path) -> None:
    moved = swept.parent / "moved.txt"
    moved.write_bytes(text.read_bytes())
    words = (
        "norm=layernorm,rmsnorm",
        "placement=pre,post",
        "data=text",
        f"data.path={moved}",
        "study.name=moved",
        *QUICK,
    )
    same = called(
        swept, "run", *words, "seed=range(2)", "study.question=Why?", "diagnostic=[]", "runtime.tracking_uri=none"
    )
    assert trained(same) == 0
    more = called(swept, "run", *words, "seed=range(3)", "runtime.tracking_uri=none")
    assert trained(more) == 4


def test_alone_or_in_a_sweep_a_trial_has_the_same_history(
    swept: Path, text: Path, command: Command, tmp_path: Path
) -> None:
    alone = command(
        "run",
        "norm=rmsnorm",
        "placement=post",
        "seed=1",
        "data=text",
        f"data.path={text}",
        *QUICK,
        "runtime.tracking_uri=none",
    )
    assert alone.returncode == 0, alone.stderr
    (folder,) = (tmp_path / "results" / "trials").iterdir()
    twin = swept / "results" / "trials" / folder.name
    assert (twin / "history.parquet").read_bytes() == (folder / "history.parquet").read_bytes()


def test_a_saved_configuration_is_plain_yaml(swept: Path) -> None:
    folder = next((swept / "results" / "trials").iterdir())
    config = yaml.safe_load((folder / "config.yaml").read_text())
    assert isinstance(config["optimizer"]["lr"], float)
    assert "${" not in (folder / "config.yaml").read_text()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ["norm=rmsnrom"],
            "there is no norm 'rmsnrom' (did you mean 'rmsnorm'?); there are: dyt, layernorm, none, rmsnorm, scalenorm",
        ),
        (
            ["norm.epss=1"],
            "norm=layernorm: there is no setting 'epss' (did you mean 'eps'?); there are: bias, eps",
        ),
        (["modle.width=3"], "the configuration: there is no setting 'modle' (did you mean 'model'?)"),
        (["model.width=64", "model.heads=3"], "heads=3 does not divide width=64"),
        (["model.width=wide"], "model.width: Value 'wide'"),
        (["data=text", "data.path=nowhere.txt"], "data.path="),
        (["data=text"], "data.path must be given: type data.path="),
        (["runtime.results=/proc/nothing"], "runtime.results=/proc/nothing cannot be written"),
        (["study=nrom"], "there is no study 'nrom' (did you mean 'norm'?)"),
        (["diagnostic=[gradnorm]"], "there is no diagnostic 'gradnorm' (did you mean 'gradient_norm'?)"),
        (["norm=layernorm,rmsnrom"], "there is no norm 'rmsnrom' (did you mean 'rmsnorm'?)"),
        (["optimizer.betas=[0.9]"], "optimizer.betas takes 2 values, was given [0.9]"),
        (
            ["diagnostic=[speed]", "study.endpoints={mfu: median}", "seed=0,1", "runtime.slots=2"],
            "the study's endpoint mfu depends on what else runs on the device, and up to 2 trials would share one",
        ),
        (
            ["study.endpoints={gradient_nrom/total: median}"],
            "endpoints, margin and expect name measures: there is no measure 'gradient_nrom",
        ),
        (["study.margin={val/loss: -0.1}"], "the margin of val/loss must be more than 0, was given -0.1"),
        (["study.seeds=0"], "study.seeds=0: must be how many, at least 1, or a list of seeds"),
        (["study.seeds=abc"], "study.seeds=abc: must be how many, at least 1, or a list of seeds"),
        (
            ["study.expect={norm=none: {val/loss: lower}}"],
            "cannot read 'study.expect={norm=none: {val/loss: lower}}': ",
        ),
        (["study=norm,ffn"], "studies are run one by one"),
        (["study.exclude={zzz: broken}"], "study.exclude: there is no trial 'zzz'"),
        (["note=a=b=c,[("], "cannot read 'note=a=b=c,[('"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_words_get_a_sentence_before_any_training(
    words: list[str], sentence: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from experiments.run import main

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [])
    monkeypatch.delenv("HYDRA_FULL_ERROR", raising=False)
    given = {word.partition("=")[0] for word in words}
    with pytest.raises(SystemExit) as caught:
        main([*(word for word in QUICK if word.partition("=")[0] not in given), *words])
    assert str(caught.value).startswith(f"knockout: {sentence}"), caught.value
    assert "to train" not in capsys.readouterr().out
    assert not (tmp_path / "results" / "trials").exists() or not list((tmp_path / "results" / "trials").iterdir())


def test_a_text_shorter_than_the_context_is_refused_with_both_numbers(command: Command, tmp_path: Path) -> None:
    (tmp_path / "short.txt").write_text("too short by far")
    ran = command("run", "data=text", "data.path=short.txt", "model.context=64")
    assert ran.returncode == 1
    assert "fewer than the 65 that one sequence of model.context=64 needs" in ran.stderr


def test_wrong_commands_studies_and_kinds_get_a_sentence(command: Command) -> None:
    assert "there is no command 'rnu' (did you mean 'run'?)" in command("rnu").stderr
    assert "there is no folder" in command("report", "nomr").stderr
    assert "there is no kind 'nrom' (did you mean 'norm'?)" in command("parts", "nrom").stderr
    assert "holds no mlflow.db" in command("ui").stderr


def test_a_study_of_ones_own_is_run_again_by_the_command_that_its_page_names(command: Command, tmp_path: Path) -> None:
    (tmp_path / "conf" / "study").mkdir(parents=True)
    asked = "# @package _global_\nstudy: {name: mine, factors: {norm: [layernorm, rmsnorm]}}\n"
    (tmp_path / "conf" / "study" / "mine.yaml").write_text(asked)
    ran = command("run", "study=mine", "--config-dir", "conf", *QUICK, "runtime.tracking_uri=none")
    assert ran.returncode == 0, ran.stderr
    page = (tmp_path / "results" / "studies" / "mine" / "report.md").read_text()
    assert "knockout run --config-dir conf study=mine" in page
    again = command("retry", "mine")
    assert again.returncode == 0, again.stderr
    assert trained(again) == 0
