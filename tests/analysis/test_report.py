"""The page says what the numbers say, whatever anything is called."""

import json
import shutil
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest

from analysis.curves import curve
from analysis.limits import missing
from analysis.plots import looks
from analysis.report import write_report
from analysis.results import load, opened
from tests.analysis.conftest import measured

Write = Callable[..., Path]
NAMES = ["日本", "a_$b$", "<b>x</b>", "o'brien", "a|b", 'say "x"', "`code`", "a&b"]


class Words(HTMLParser):
    """The text of a page, and its tags."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.words: list[str] = []
        self.tags: list[str] = []
        self.feed(page)

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.tags += [f"{name}={value}" for name, value in attrs if name in ("src", "href")]


def test_the_page_has_verdict_effects_curves_and_reproduction(write_study: Write) -> None:
    page, verdicts = write_report(write_study(change=0.1, expect={"norm=rmsnorm": {"val/loss": "higher"}}))
    shown = " ".join(Words(page.read_text()).words)
    for words in ("Is it seen?", "nats/token higher than under norm=layernorm", "supported", "n = 8", "knockout run"):
        assert words in shown
    assert page.read_text().count("<svg") == 1 + 2 + 1
    assert "supported" in verdicts
    assert "supported" in page.with_suffix(".md").read_text()


def test_the_page_needs_nothing_else(write_study: Write) -> None:
    page, _ = write_report(write_study())
    found = Words(page.read_text())
    assert "script" not in found.tags
    assert not [tag for tag in found.tags if tag.startswith(("src=", "href=")) and "#" not in tag]


def test_the_same_folder_gives_the_same_bytes_wherever_it_lies(write_study: Write, tmp_path: Path) -> None:
    home = write_study()
    first = write_report(home)[0].read_bytes()
    shutil.copytree(tmp_path, elsewhere := tmp_path.parent / f"{tmp_path.name} moved")
    assert write_report(elsewhere / "studies" / "planted")[0].read_bytes() == first


@pytest.mark.parametrize("name", NAMES)
def test_d14_any_name_is_shown_as_it_is(write_study: Write, name: str) -> None:
    page, _ = write_report(write_study(arms=["norm=layernorm", name], question=name))
    found = Words(page.read_text())
    assert "b" not in found.tags
    assert any(name == words.strip() for words in found.words)


def test_one_seed_has_no_interval_and_the_page_says_so(write_study: Write) -> None:
    page, verdicts = write_report(write_study(seeds=1))
    assert "one seed has no interval" in page.read_text()
    assert "none (one seed)" in verdicts


def test_diverged_and_missing_trials_are_listed(write_study: Write) -> None:
    page, _ = write_report(write_study(diverged=[0], missing=[1]))
    shown = page.read_text()
    assert "norm=rmsnorm, seed 0: diverged at step 2" in shown
    assert "norm=rmsnorm, seed 1: not finished" in shown
    assert "6 finished" in shown


def test_an_arm_without_any_finished_trial_builds(write_study: Write) -> None:
    page, _ = write_report(write_study(missing=list(range(8))))
    assert "no seed has it in both arms" in page.read_text()


def test_one_arm_has_nothing_to_compare(write_study: Write) -> None:
    page, verdicts = write_report(write_study(arms=["norm=layernorm"]))
    assert verdicts.startswith("one arm, nothing to compare:\n")
    assert "val/loss" in verdicts
    assert "nothing to compare" in page.read_text()


def test_curves_have_mean_interval_and_n_by_step(write_study: Write) -> None:
    found = curve(opened(write_study(missing=[3])).history, "val/loss")
    last = found[(found.arm == "norm=rmsnorm") & (found.step == 2)].iloc[0]
    assert last.n == 7
    assert last.low < last["mean"] < last.high


def test_dense_curves_are_averaged_over_equal_stretches() -> None:
    import pandas as pd

    steps = range(1, 601)
    history = pd.DataFrame({"arm": "a", "seed": 0, "step": steps, "x": [float(step) for step in steps]})
    found = curve(history, "x", points=60)
    assert found.step.to_list() == list(range(10, 601, 10))
    assert found["mean"].iloc[0] == 5.5
    assert found.low.isna().all()


def test_an_arm_looks_the_same_in_all_figures() -> None:
    arms = [f"arm {n}" for n in range(12)]
    assert looks(arms[:1])["arm 0"] == looks(arms[:8])["arm 0"]
    assert len({(str(look["color"]), str(look["linestyle"])) for look in looks(arms).values()}) == 12


def test_a_study_that_is_not_there_names_the_nearest(write_study: Write, tmp_path: Path) -> None:
    write_study()
    with pytest.raises(FileNotFoundError, match=r"no study 'plantd' \(did you mean 'planted'\?\); there are: planted"):
        load(tmp_path, "plantd")


def test_a_pace_counts_only_where_a_trial_had_its_device_to_itself(write_study: Write) -> None:
    home = write_study(endpoints={"pace": "final"}, margin={})
    measured(home, "pace", lambda place, seed: 100.0 + place, repeats="alone")
    for folder in sorted(home.parents[1].glob("trials/*")):
        said = json.loads((folder / "summary.json").read_text())
        beside = {"3": 1, "4": None}.get(folder.name[-1], 0)
        (folder / "summary.json").write_text(json.dumps(said | {"beside": beside}))
    results = opened(home)
    assert results.effects().pairs.to_list() == [6]
    (line,) = (line for line in missing(results) if line.startswith("pace"))
    assert line.startswith(
        "pace: 2 trials shared their device with others and nobody knows of 2 trials whether they did"
    )
