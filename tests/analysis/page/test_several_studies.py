"""Several studies on one page."""

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from analysis.page.several_studies import JudgedStudy, joint_effects, page_name, shared_trials_notes, write_overview
from analysis.record.study_file import study_names
from analysis.statistics.effects import holm_corrected
from analysis.tables.results import Results, read_results
from experiments.commands.report import report

Write = Callable[..., Path]


@pytest.fixture
def both(write_study: Write) -> list[Results]:
    """Two studies of one folder: the second has the first's trials, and asks another question of them."""
    first = write_study(change=0.1, arms=["norm=layernorm", "norm=rmsnorm", "norm=<b>"])
    asked = yaml.safe_load((first / "study.yaml").read_text())
    second = first.with_name("again")
    second.mkdir()
    asked |= {"name": "again", "question": "Is it seen again?", "endpoints": {"val/loss": "final", "train/loss": "min"}}
    (second / "study.yaml").write_text(yaml.safe_dump(asked, sort_keys=False))
    return [read_results(first), read_results(second)]


def test_effects_of_all_studies_stand_by_arm_and_are_corrected_together(both: list[Results]) -> None:
    found = joint_effects([JudgedStudy(study) for study in both])
    effects = [joint.verdict.effect for joint in found]
    assert [effect.arm for effect in effects] == ["norm=rmsnorm"] * 3 + ["norm=<b>"] * 3
    assert {joint.study for joint in found} == {"planted", "again"}
    assert [joint.p_all for joint in found] == pytest.approx(holm_corrected([effect.p for effect in effects]))
    assert all(joint.p_all >= joint.verdict.effect.p_holm for joint in found)
    assert sorted(joint.reduction for joint in found) == ["final"] * 4 + ["min"] * 2


def test_studies_with_the_same_trials_are_not_independent(both: list[Results]) -> None:
    (note,) = shared_trials_notes(both)
    assert all(words in note for words in ("planted and again", "24 trials in common"))


def test_the_page_shows_all_and_the_same_bytes_twice(both: list[Results], capsys: pytest.CaptureFixture[str]) -> None:
    results = both[0].home.parents[1]
    report(["planted", "again", "--results", str(results)])
    page = results / "studies" / "planted+again.html"
    assert str(page) in capsys.readouterr().out
    shown = page.read_text()
    assert 'href="planted/report.html"' in shown and 'href="again/report.html"' in shown
    assert "Is it seen?" in shown and "Is it seen again?" in shown
    assert "norm=&lt;b&gt;" in shown and "<b>" not in shown
    assert shown.count("<svg") == 2
    assert write_overview(both, "twice").read_text() == shown
    assert study_names(results) == ["again", "planted"]


def test_a_long_list_has_a_short_name() -> None:
    class Study:
        home = Path("studies") / ("x" * 60)

    assert len(page_name([Study(), Study()])) < 30  # pyright: ignore[reportArgumentType]
