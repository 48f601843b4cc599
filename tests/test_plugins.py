"""Parts from outside work like built-in ones, in every process; broken ones are told why."""

import os
from pathlib import Path

import pytest

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
import threading

from components.parts import Sizes
from components.position import Position, positions

LOCK = threading.Lock()  # what no pickle takes


@positions.register("still")
class Still(Position):
    """y = x

    Source: this test.
    """

    def __init__(self, sizes: Sizes, *, number: float = 1.0) -> None:
        super().__init__(sizes)
        self.number = (lambda value: value)(number)
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


def test_a31_an_installed_package_and_a_named_file_are_found_by_every_process(tmp_path: Path) -> None:
    site = tmp_path / "site"
    (site / "stillness-1.0.dist-info").mkdir(parents=True)
    (site / "stillness.py").write_text(POSITION, encoding="utf-8")
    (site / "stillness-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: stillness\nVersion: 1.0\n")
    (site / "stillness-1.0.dist-info" / "entry_points.txt").write_text("[knockout.parts]\nstill = stillness\n")
    named = tmp_path / "other.py"
    named.write_text(POSITION.replace('"still"', '"named"'), encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": str(site)}
    words = ("position=still,named", "position.number=3", f"plugins=[{named}]", *QUICK, "runtime.tracking_uri=none")
    ran = typed(tmp_path, "run", *words, env=environment)
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
