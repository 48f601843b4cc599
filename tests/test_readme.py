"""What the README says is so."""

import re
import shlex
import subprocess
from pathlib import Path

import pytest

from components import contract
from components.registry import kinds
from experiments.catalogue import table
from tests.conftest import QUICK, ROOT, called

README = (ROOT / "README.md").read_text(encoding="utf-8")
LINES = [
    line.removeprefix("$ ").partition("   #")[0]
    for block in re.findall(r"```console\n(.*?)```", README, re.DOTALL)
    for line in block.splitlines()
    if line.startswith("$ ")
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tour")


def test_there_are_two_commands_and_a_tour_of_five() -> None:
    assert [line.split()[0] for line in LINES] == ["make"] * 2 + ["knockout"] * 5


@pytest.mark.parametrize("line", [line for line in LINES if line.startswith("knockout")])
def test_each_command_runs(line: str, folder: Path) -> None:
    words = shlex.split(line)[1:]
    shortened = [*QUICK, "runtime.tracking_uri=none"] if words[0] in ("demo", "run") else []
    ran = called(folder, *words, *shortened)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout


@pytest.mark.parametrize("line", LINES)
def test_each_command_reaches_the_program_as_it_is_written(line: str) -> None:
    split = subprocess.run(
        ["bash", "-c", f"printf '%s\\n' {line}"], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert split.stdout.splitlines() == shlex.split(line)
    unquoted = re.sub(r"\"[^\"]*\"|'[^']*'", "", line)
    assert not set("*?[](){}<>|&;~") & set(unquoted), "zsh would take it for a pattern"


@pytest.mark.parametrize("line", [line for line in LINES if line.startswith("make")])
def test_each_make_target_is_there(line: str) -> None:
    planned = subprocess.run([*line.split(), "--dry-run"], capture_output=True, text=True, check=False, cwd=ROOT)
    assert planned.returncode == 0, planned.stderr
    assert {"make demo": "knockout demo", "make test": "pytest"}[line.strip()] in planned.stdout


@pytest.mark.parametrize("row", table().splitlines())
def test_the_table_of_parts_has_every_row(row: str) -> None:
    assert f"\n{row}\n" in README


def test_the_part_it_shows_keeps_its_contract(monkeypatch: pytest.MonkeyPatch) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    norms = kinds("components")["norm"]
    monkeypatch.setattr(norms, "_parts", dict(norms._parts))
    exec(compile(code, "l1norm.py", "exec"), {"__name__": "l1norm"})
    assert "l1norm" in norms.names()
    for check in contract.CHECKS:
        check(norms, "l1norm")


def test_files_it_links_to_are_there() -> None:
    for link in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (ROOT / link).exists(), link
