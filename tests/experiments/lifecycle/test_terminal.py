"""What others wrote is shown on a terminal and steers nothing."""

import io

import pytest
from rich.console import Console

from experiments.launch.progress import ProgressBoard
from experiments.lifecycle.terminal import echo, printable

HOSTILE = "arm\x1b]0;title\x07\x1b[2J\x9b31m\r\x08 \u202eend"


def test_escape_sequences_are_shown_and_not_obeyed(capsys: pytest.CaptureFixture[str]) -> None:
    echo(f"study {HOSTILE}\n\tnorm=größe → 日本 :smile: [red]")
    printed = capsys.readouterr().out
    assert not {"\x1b", "\x07", "\x9b", "\r", "\x08", "\u202e"} & set(printed)
    assert printed.endswith("end\n\tnorm=größe → 日本 :smile: [red]\n")
    assert printable("a → b\n\tc") == "a → b\n\tc"


def test_the_labels_and_reasons_of_trials_are_shown_as_they_are() -> None:
    out = io.StringIO()
    with ProgressBoard(1, Console(file=out, width=300)) as board:
        board.trial_started("id", f"[bold]{HOSTILE}", 10)
        board.trial_ended("id", "failed", f"last words {HOSTILE}")
    assert "\x1b" not in out.getvalue()
    assert "[bold]arm" in out.getvalue()
