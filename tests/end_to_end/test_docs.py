"""What the README and the pages of the site say is so: their files are written, their code and their commands run.

A block with a title is a file, a `console` block holds commands and a `python` block code. The blocks of a page share a
folder in which the demo has run on a tiny model. Commands that would train are planned instead.
"""

import contextlib
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

from docs.doctests import fenced
from docs.generate import generated_pages
from experiments.commands.main import COMMANDS
from experiments.settings.part_docs import part_docs
from tests.conftest import QUICK, ROOT, called

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(
    r"^```(?P<language>\w+)(?: title=\"(?P<title>[^\"]+)\")?\n(?P<code>.*?)^```$", re.DOTALL | re.MULTILINE
)
PLANNED = {
    "demo": ("plan", "study=norm", "runtime.smoke=0"),
    "run": ("plan", "runtime.smoke=0"),
    "plan": ("plan", "runtime.smoke=0"),
}


class Block(NamedTuple):
    """A fenced block of a page."""

    language: str
    title: str | None
    code: str

    @property
    def lines(self) -> list[str]:
        """The commands of a block of them, without comments."""
        return [line[2:].partition("   #")[0] for line in self.code.splitlines() if line.startswith("$ ")]


def blocks(page: Path) -> Iterator[Block]:
    for match in FENCE.finditer(page.read_text(encoding="utf-8")):
        yield Block(match["language"], match["title"], match["code"])


def page_name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


every_page = pytest.mark.parametrize("page", PAGES, ids=page_name)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the demo has run with two seeds on a tiny model, and a text of one's own."""
    folder = tmp_path_factory.mktemp("demo")
    (folder / "my.txt").write_text("the keys to the cabinet are on the table, and the cat sat. " * 200)
    ran = called(folder, "demo", *QUICK, "study.seeds=2", "runtime.tracking_uri=none", "runtime.smoke=0")
    assert ran.returncode == 0, ran.stderr
    return folder


@every_page
def test_all_blocks_of_a_page_run(page: Path, demo: Path, tmp_path: Path) -> None:
    shutil.copytree(demo, tmp_path, dirs_exist_ok=True)
    for block in blocks(page):
        if block.title is None:
            RUN[block.language](block, tmp_path)
        else:
            (tmp_path / block.title).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / block.title).write_text(block.code, encoding="utf-8")


def run_commands(block: Block, folder: Path) -> None:
    trial = min((folder / "results" / "trials").iterdir()).name
    for line in block.lines:
        program, *words = shlex.split(line.replace("TRIAL", trial))
        if program == "make":
            planned = subprocess.run(
                ["make", *words, "--dry-run"], capture_output=True, text=True, check=True, cwd=ROOT
            )
            assert planned.stdout
            continue
        assert program == "knockout"
        ran = called(folder, *as_tested(words))
        assert ran.returncode == 0, f"{line}\n{ran.stderr}"
        assert ran.stdout, line


def as_tested(words: list[str]) -> list[str]:
    """What is run for a command: the command itself, or its plan; of one that never ends, its help."""
    command, *rest = words
    if command == "ui":
        return ["ui", "--help"]
    if "--cfg" in rest:
        return words
    if any(word.startswith("hydra/launcher=") for word in rest):  # no cluster is here: its settings are composed
        return [*words, "--cfg", "job"]
    if command in PLANNED:
        instead, *more = PLANNED[command]
        return [instead, *rest, *more]
    return words


def run_python(block: Block, folder: Path) -> None:
    with contextlib.chdir(folder), contextlib.redirect_stdout(None):
        exec(compile(block.code, block.title or "block", "exec"), {"__name__": "page"})


def parse_shell(block: Block, folder: Path) -> None:
    subprocess.run(["bash", "-n", "-c", block.code], check=True, cwd=folder)


def read_only(block: Block, folder: Path) -> None:
    """What a command prints, a formula or a folder: nothing to run."""


RUN: dict[str, Callable[[Block, Path], None]] = {
    "console": run_commands, "python": run_python, "sh": parse_shell, "text": read_only,
}  # fmt: skip


@every_page
def test_each_command_reaches_the_program_as_it_is_written(page: Path) -> None:
    for line in (line for block in blocks(page) if block.language == "console" for line in block.lines):
        split = subprocess.run(
            ["bash", "-c", f"printf '%s\\n' {line}"], capture_output=True, text=True, check=True, cwd=ROOT
        )
        assert split.stdout.splitlines() == shlex.split(line)
        unquoted = re.sub(r"\"[^\"]*\"|'[^']*'", "", line)
        assert not set("*?[](){}<>|&;~") & set(unquoted), f"zsh would take it for a pattern: {line}"


@every_page
def test_links_lead_to_files(page: Path) -> None:
    generated = {ROOT / "docs" / path for path in generated_pages()}
    for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        target = (page.parent / link).resolve()
        assert target.exists() or target in generated, link


def test_the_readme_is_short_and_leads_with_two_commands() -> None:
    assert len((ROOT / "README.md").read_bytes()) <= 8000
    lines = [line for block in blocks(ROOT / "README.md") if block.language == "console" for line in block.lines]
    assert [line.split() for line in lines[:2]] == [["make", "demo"], ["make", "test"]]


def test_there_are_as_many_parts_and_kinds_as_the_readme_says() -> None:
    parts = list(part_docs())
    assert len(parts) > 100 and len({part.kind for part in parts}) == 19
    assert "**More than 100 parts of 19 kinds**" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_reference_has_every_part_setting_and_command() -> None:
    pages = generated_pages()
    for part in part_docs():
        assert f"\n## {part.name}\n" in pages[f"reference/parts/{part.kind}.md"]
    for command in COMMANDS:
        assert f"\n## {command}\n" in pages["reference/commands.md"]
    for row in ("| `model.width` | int | 64 |", "| `trainer.max_steps` | int | 500 |", "| `study.seeds` |"):
        assert row in pages["reference/settings.md"]


def test_doctests_are_code_on_the_site() -> None:
    assert fenced("Doubles.\n\n>>> 2 * 2\n4\n\nMore.") == "Doubles.\n\n```pycon\n>>> 2 * 2\n4\n```\n\nMore."


def test_the_navigation_names_pages_that_are_there() -> None:
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    named = set(re.findall(r"[\w/-]+\.md", yaml.safe_dump(yaml.safe_load(text)["nav"])))
    there = {page.relative_to(ROOT / "docs").as_posix() for page in (ROOT / "docs").rglob("*.md")}
    assert there <= named <= there | generated_pages().keys()
