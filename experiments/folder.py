"""The results folder: `trials/<id>/` for each trial, `studies/<name>/` for each study that refers to them."""

import hashlib
import json
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

CONFIG, SUMMARY, LOG, STUDY = "config.yaml", "summary.json", "trial.log", "study.yaml"
CHECKPOINT = "checkpoint.pt"
PAGE, VERDICTS, SHOWN = "report.html", "verdicts.txt", "shown.txt"  # what a study has once it was reported


def opened(root: Path) -> Path:
    """The results folder, made if need be. Raises PermissionError if nothing can be written there."""
    try:
        (root / "trials").mkdir(parents=True, exist_ok=True)
        (root / "studies").mkdir(exist_ok=True)
        with tempfile.TemporaryFile(dir=root / "trials"):
            return root.absolute()
    except OSError as error:
        reason = f"runtime.results={root} cannot be written ({error.strerror})"
        raise PermissionError(f"{reason}; name a folder that can: runtime.results=FOLDER") from error


def finished(folder: Path) -> dict[str, Any] | None:
    """The trial's summary if it is complete."""
    path = folder / SUMMARY
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """A place to write a file of a trial, which gets its name once the block has ended well, and else is removed."""
    part = path.with_name(f"{path.name}.part")
    try:
        yield part
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def safe(name: str) -> str:
    """A file name for any name: the name itself where it can be one, otherwise what is left of it and a digest.

    >>> safe("norm"), safe("a/b")
    ('norm', 'a_b-c14cdd')
    """
    kept = re.sub(r"[^\w.\- ]", "_", name).strip(". ")[:80]
    return kept if kept == name else f"{kept}-{hashlib.sha256(name.encode()).hexdigest()[:6]}"
