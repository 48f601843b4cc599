"""Parts from outside work like built-in ones, in every process; broken ones are told why."""

import hashlib
import os
import re
from pathlib import Path

import pytest

from experiments import plugins
from tests.conftest import QUICK, Command, typed

LEAK = '''
"""Looks ahead."""

from torch import Tensor, nn

from components.ffn import ffns


@ffns.register("leak")
class Leak(nn.Module):
    """y = x + the mean of all tokens

    Source: this test.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.width = width

    def forward(self, x: Tensor) -> Tensor:
        return x + x.mean(-2, keepdim=True)
'''
POSITION = '''
"""Turns half of each head."""

import threading

import torch

from components.parts import Sizes
from components.position import Position, positions
from components.position.rope import RoPE
from components.shapes import Heads

LOCK = threading.Lock()  # what no pickle takes


@positions.register("turn")
class Turn(Position):
    """RoPE on the first half of q and k

    Source: this test.
    """

    def __init__(self, sizes: Sizes, *, base: float = 100.0) -> None:
        super().__init__(sizes)
        self.rope = (lambda base: RoPE(sizes, base=base))(base)

    def rotate(self, x: Heads) -> Heads:
        first, second = x.chunk(2, -1)
        return torch.cat([self.rope.rotate(first), second], -1)
'''
NORM = '''
"""A norm that divides by the largest entry."""

from torch import nn

from components.norm import norms
from components.shapes import Vector


@norms.register("even")
class Even(nn.Module):
    """y = strength · x / max|x|

    Source: this test.
    """

    def __init__(self, width: int, *, strength: float = 1.0) -> None:
        super().__init__()
        self.strength = strength

    def forward(self, x: Vector) -> Vector:
        return self.strength * x / x.abs().amax(-1, keepdim=True).clamp_min(1e-5)
'''


def test_a_part_that_was_started_is_lawful_trains_and_is_listed(command: Command, tmp_path: Path) -> None:
    started = command("new", "norm", "my_norm")
    assert started.stdout == "plugins/norm/my_norm.py: edit it, then `knockout check plugins/norm/my_norm.py`\n", (
        started.stderr
    )
    assert "norm=my_norm keeps its contract" in command("check", "plugins/norm/my_norm.py").stdout
    assert "norm=my_norm keeps its contract" in command("check", "norm=my_norm").stdout
    assert "norm=my_norm\n" in command("parts", "norm").stdout
    ran = command("run", "norm=rmsnorm,my_norm", *QUICK, "runtime.tracking_uri=none")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "norm=my_norm" in ran.stdout
    assert command("new", "norm", "my_norm").returncode == 1


def package(folder: Path) -> Path:
    """A package as its author would write it: two modules, and what they are offered under."""
    (folder / "stillness").mkdir(parents=True)
    (folder / "stillness" / "__init__.py").write_text("from stillness import norm, position\n", encoding="utf-8")
    (folder / "stillness" / "norm.py").write_text(NORM, encoding="utf-8")
    (folder / "stillness" / "position.py").write_text(POSITION, encoding="utf-8")
    (folder / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n\n'
        '[project]\nname = "stillness"\nversion = "1.0"\n\n'
        '[project.entry-points."knockout.parts"]\nstill = "stillness"\n',
        encoding="utf-8",
    )
    return folder


@pytest.fixture
def installed(tmp_path: Path) -> dict[str, str]:
    """An environment in which pip has installed that package."""
    site, source = tmp_path / "site", package(tmp_path / "source")
    words = ("install", "--quiet", "--no-index", "--no-deps", "--no-build-isolation", "--target", str(site))
    ran = typed(tmp_path, *words, str(source), program=("-m", "pip"))
    assert ran.returncode == 0, ran.stderr
    return {**os.environ, "PYTHONPATH": str(site)}


def test_a31_an_installed_package_sweeps_and_reports_like_built_in_parts(
    installed: dict[str, str], tmp_path: Path
) -> None:
    words = ("norm=layernorm,even", "position=rope,turn", *QUICK, "runtime.tracking_uri=none")
    ran = typed(tmp_path, "run", *words, env=installed)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "4 arms × 1 seed = 4 trials" in ran.stdout
    assert len(re.findall(r"^norm=even, position=turn · seed \d: finished", ran.stdout, re.MULTILINE)) == 1
    page = next((tmp_path / "results" / "studies").glob("*/report.md")).read_text(encoding="utf-8")
    assert "| norm=even, position=turn |" in page
    for part in ("norm=even", "position=turn"):
        assert f"{part} keeps its contract" in typed(tmp_path, "check", part, env=installed).stdout
    assert "strength: float = 1.0" in typed(tmp_path, "parts", "norm", env=installed).stdout


def test_a31_a_file_that_is_named_is_loaded_by_every_command(command: Command, tmp_path: Path) -> None:
    named = tmp_path / "other.py"
    named.write_text(POSITION, encoding="utf-8")
    words = ("position=rope,turn", "position.base=300", f"plugins=[{named}]", *QUICK, "runtime.tracking_uri=none")
    ran = command("run", *words)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "2 arms" in ran.stdout


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (LEAK, "ffn=leak breaks “sees no future”: __call__ lets a token see the one after it"),
        (LEAK.replace("width: int", "size: int").replace("= width", "= size"), "its positional parameters are (size)"),
        (
            LEAK.replace("self.width = width", "self.gain = nn.Parameter(__import__('torch').ones(width))"),
            "gain gets no gradient",
        ),
        ("", "registers no component"),
    ],
)
def test_a_broken_part_fails_its_check_with_the_reason(command: Command, tmp_path: Path, code: str, words: str) -> None:
    (tmp_path / "mine.py").write_text(code, encoding="utf-8")
    ran = command("check", "mine.py")
    assert ran.returncode == 1
    assert words in ran.stderr


def test_a32_a_clash_names_both_origins(command: Command, tmp_path: Path) -> None:
    (tmp_path / "plugins" / "ffn").mkdir(parents=True)
    (tmp_path / "plugins" / "ffn" / "mine.py").write_text(LEAK.replace('"leak"', '"gelu"'), encoding="utf-8")
    ran = command("run", *QUICK)
    assert ran.returncode == 1
    assert "ffn=gelu is registered twice" in ran.stderr
    assert "mine.py:Leak" in ran.stderr
    assert "gelu.py:gelu" in ran.stderr


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("new", "nrom", "x"), "no kind of component 'nrom' (did you mean 'norm'?)"),
        (("new", "norm", "a-b"), "'a-b' is no name for a part"),
        (("new", "norm", "rmsnorm"), "there is a norm 'rmsnorm' already"),
        (("check", "norm=rmsnrom"), "there is no norm 'rmsnrom' (did you mean 'rmsnorm'?)"),
        (("check", "nowhere.py"), "there is no file nowhere.py"),
        (("run", "plugins=[nowhere.py]"), "there is no file nowhere.py"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_mistakes_get_a_sentence(command: Command, words: tuple[str, ...], sentence: str) -> None:
    ran = command(*words)
    assert ran.returncode == 1
    assert sentence in ran.stderr


def test_a_plugin_that_was_edited_after_its_trial_was_planned_is_not_taken_for_the_one_planned(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text("")
    plugins.load_again({str(path): hashlib.sha256(b"").hexdigest()[:12]})
    del plugins.LOADED[str(path)]
    with pytest.raises(RuntimeError, match=r"mine\.py has changed since the trial was planned"):
        plugins.load_again({str(path): hashlib.sha256(b"x = 1").hexdigest()[:12]})
    del plugins.LOADED[str(path)]
