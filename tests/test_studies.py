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


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("margins: {val/loss: 0.1}", "study: there is no setting 'margins' (did you mean 'margin'?)"),
        ("expect: {norm=none: lower}", "study.expect is written expect: {norm=rmsnorm: {val/loss: same}}"),
        ("margin: 0.02", "study.margin is written margin: {val/loss: 0.02}"),
        ("endpoints: [val/loss]", "what a study asks is written as KEY: VALUE, such as endpoints: {val/loss: final}"),
        ("study: {name: mine}", "the file of a study begins with the line '# @package _global_'"),
    ],
)
def test_mistakes_in_a_studys_file_get_a_sentence(line: str, sentence: str, command: Command, tmp_path: Path) -> None:
    own = tmp_path / "conf" / "study" / "mine.yaml"
    own.parent.mkdir(parents=True)
    own.write_text(f"# @package _global_\nstudy:\n  {line}\n" if "name" not in line else f"{line}\n")
    ran = command("plan", "study=mine", "--config-dir", "conf")
    assert ran.returncode == 1
    assert ran.stderr.startswith(f"knockout: In 'study/mine': {sentence}")


def test_the_readmes_own_study_can_be_planned(command: Command, tmp_path: Path) -> None:
    own = tmp_path / "conf" / "study" / "mine.yaml"
    own.parent.mkdir(parents=True)
    own.write_text((ROOT / "README.md").read_text().partition("```yaml\n")[2].partition("```")[0])
    ran = command("plan", "study=mine", "--config-dir", "conf", "runtime.smoke=0")
    assert "study mine: 2 arms × 8 seeds = 16 trials" in ran.stdout, ran.stderr
