"""One results folder under many commands: other launchers, other trackers, odd names, other questions."""

from pathlib import Path

from tests.conftest import QUICK, Command, called, runs, trained


def test_hydras_own_sweeper_and_launcher_train_a_trial_once_in_any_folder(tmp_path: Path) -> None:
    place = 'runtime.results="r (b), c"'
    words = ("-m", "hydra/sweeper=basic", "hydra/launcher=basic", place, "norm=layernorm,rmsnorm", "placement=none")
    first = called(tmp_path, "run", *words, *QUICK)
    assert first.returncode == 0, first.stderr
    (summary,) = (tmp_path / "r (b), c" / "trials").glob("*/summary.json")
    made = summary.stat().st_mtime_ns
    assert called(tmp_path, "run", *words, *QUICK).returncode == 0
    assert summary.stat().st_mtime_ns == made


def test_ours_and_theirs_find_the_same_trial(tmp_path: Path) -> None:
    words = ("runtime.results=a, b", "runtime.tracking_uri=none", *QUICK)
    quoted = ('runtime.results="a, b"', *words[1:])
    ours = called(tmp_path, "run", "hydra/launcher=basic", *quoted)
    assert ours.returncode == 0, ours.stderr
    assert trained(called(tmp_path, "run", *quoted)) == 0


def test_a_tracker_that_is_down_costs_a_warning(process: Command) -> None:
    ran = process("run", *QUICK, "runtime.tracking_uri=http://127.0.0.1:9")
    assert ran.returncode == 0, ran.stderr
    assert "report: " in ran.stdout
    assert "warning: MLflow at http://127.0.0.1:9 is not up to date; it is tried again" in ran.stderr


def test_b18_a_study_of_any_name_is_found_by_it(command: Command, tmp_path: Path) -> None:
    name = "日本 a/b o'brien"
    ran = command("run", f'study.name="{name}"', "norm=layernorm,none", *QUICK)
    assert ran.returncode == 0, ran.stderr
    assert {run["name"] for run in runs(tmp_path) if "mlflow.parentRunId" not in run} == {name}
    again = command("report", name)
    assert again.returncode == 0, again.stderr
    (home,) = (tmp_path / "results" / "studies").iterdir()
    assert f"knockout report '{home.name}'" in (home / "report.md").read_text(encoding="utf-8")
    assert "norm=none" in again.stdout


def test_another_question_of_the_same_name_leaves_no_old_answer(command: Command, tmp_path: Path) -> None:
    words = ("study.name=mine", "runtime.tracking_uri=none", *QUICK)
    command("run", "norm=layernorm,rmsnorm", *words)
    command("run", "norm=layernorm,none", *words)
    effects = (tmp_path / "results" / "studies" / "mine" / "effects.csv").read_text()
    assert "norm=none" in effects
    assert "rmsnorm" not in effects
