"""The page as a browser shows it: whole, light, dark and in print, without an error and without the network."""

import html
import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from analysis.report import write_report

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")


WATCHED = (
    "<head><script>const failed = []; addEventListener('error', e => failed.push(e.message || e.target.src), true);"
    "addEventListener('load', () => document.title = JSON.stringify({failed, wide: document.body.scrollWidth,"
    "asked: performance.getEntriesByType('resource').map(entry => entry.name)}))</script>"
)


def browse(page: Path, *options: str) -> str:
    """Open a page from the disk, in a browser that no name leads out of; what it printed."""
    line = [
        str(CHROMIUM), "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
        "--no-first-run", "--host-resolver-rules=MAP * ~NOTFOUND", f"--user-data-dir={page.parent / 'profile'}",
        "--virtual-time-budget=2000", *options, page.as_uri(),
    ]  # fmt: skip
    return subprocess.run(line, capture_output=True, text=True, check=True, timeout=120).stdout


def watched(page: str, folder: Path, *options: str) -> dict[str, Any]:
    """What went wrong on a page, how wide it was, and what it asked for beyond itself."""
    copy = folder / "watched.html"
    copy.write_text(page.replace("<head>", WATCHED))
    return json.loads(
        html.unescape(browse(copy, "--dump-dom", *options).partition("<title>")[2].partition("</title>")[0])
    )


def test_the_page_opens_light_dark_and_in_print_without_errors_and_without_the_network(
    write_study: Callable[..., Path], tmp_path: Path
) -> None:
    page, _ = write_report(write_study(change=0.1))
    found = watched(page.read_text(), tmp_path)
    assert (found["failed"], found["asked"]) == ([], [])
    asking = page.read_text().replace("</h1>", "</h1><img src='https://example.org/a.png'>")
    assert watched(asking, tmp_path)["failed"] == ["https://example.org/a.png"]  # so that the above means something
    pictures = [tmp_path / "light.png", tmp_path / "dark.png"]
    for picture, dark in zip(pictures, ([], ["--blink-settings=preferredColorScheme=0"]), strict=True):
        browse(page, f"--screenshot={picture}", "--window-size=1100,1600", *dark)
    assert pictures[0].read_bytes() != pictures[1].read_bytes()
    browse(page, f"--print-to-pdf={tmp_path / 'page.pdf'}")
    assert (tmp_path / "page.pdf").read_bytes().startswith(b"%PDF")


def test_nothing_is_wider_than_a_narrow_screen_but_what_scrolls(
    write_study: Callable[..., Path], tmp_path: Path
) -> None:
    page, _ = write_report(write_study(change=0.1))
    assert watched(page.read_text(), tmp_path, "--window-size=500,900")["wide"] <= 500
