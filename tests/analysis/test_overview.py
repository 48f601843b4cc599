"""Several studies on one page."""

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from analysis.effect import holm
from analysis.overview import Judged, effects, named, shared, write_overview
from analysis.report import main
from analysis.results import Results, names, opened

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
    return [opened(first), opened(second)]


def test_effects_of_all_studies_stand_by_arm_and_are_corrected_together(both: list[Results]) -> None:
    found = effects([Judged(study) for study in both])
    assert found.arm.to_list() == ["norm=rmsnorm"] * 3 + ["norm=<b>"] * 3
    assert set(found.study) == {"planted", "again"}
    assert found.p_all.to_list() == pytest.approx(holm(found.p.to_list()))
    assert (found.p_all >= found.p_holm).all()
    assert found.reduction.value_counts().to_dict() == {"final": 4, "min": 2}


def test_studies_with_the_same_trials_are_not_independent(both: list[Results]) -> None:
    assert shared(both) == ["planted and again as if they were independent: they have 24 trials in common"]


def test_the_page_shows_all_and_the_same_bytes_twice(both: list[Results], capsys: pytest.CaptureFixture[str]) -> None:
    results = both[0].home.parents[1]
    main(["planted", "again", "--results", str(results)])
    page = results / "studies" / "planted+again.html"
    assert str(page) in capsys.readouterr().out
    shown = page.read_text()
    assert 'href="planted/report.html"' in shown and 'href="again/report.html"' in shown
    assert "Is it seen?" in shown and "Is it seen again?" in shown
    assert "norm=&lt;b&gt;" in shown and "<b>" not in shown
    assert shown.count("<svg") == 2
    assert write_overview(both, "twice").read_text() == shown
    assert names(results) == ["again", "planted"]


def test_a_long_list_has_a_short_name() -> None:
    class Study:
        home = Path("studies") / ("x" * 60)

    assert len(named([Study(), Study()])) < 30  # pyright: ignore[reportArgumentType]
