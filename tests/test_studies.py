"""The studies that come with knockout: each can be built, asks a question, and says what it does not show."""

from pathlib import Path

import pytest
import yaml

from tests.conftest import ROOT, Command

STUDIES = sorted((ROOT / "conf" / "study").glob("*.yaml"))


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.stem)
def test_a_study_plans_and_says_what_it_will_not_show(path: Path, command: Command) -> None:
    study = yaml.safe_load(path.read_text())["study"]
    assert study["name"] == path.stem
    assert study["question"].endswith("?")
    assert study["source"]
    ran = command("plan", f"study={path.stem}", "runtime.smoke=0")
    assert ran.returncode == 0, ran.stderr
    assert f"study {path.stem}: " in ran.stdout
    assert "left out" not in ran.stdout and "trains the same trials" not in ran.stdout
    assert "what must not be concluded from it:\n  " in ran.stdout


def test_a_plan_says_what_its_seeds_could_not_decide_exactly(command: Command) -> None:
    ran = command("plan", "study=scale", "study.seeds=5", "runtime.smoke=0")
    assert "solved: exact tests of 10 rows decide nothing with fewer than 9 seeds" in ran.stdout
