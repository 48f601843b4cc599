"""Files that are complete or absent, whoever else writes or reads them at the same moment; and damaged ones, named."""

import csv
import errno
import io
import json
import os
import shutil
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

FULL_BELOW_BYTES = 64 * 1024  # a failed write to a disk with less free than this is put down to the full disk

Replacing = Callable[[Path], AbstractContextManager[Path]]  # `replacing`, or the same under a condition


class DamagedFile(ValueError):
    """A file of a results folder that exists and cannot be read."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{path} is damaged: {reason}")
        self.path, self.reason = path, reason


class DiskFull(OSError):
    """A file could not be written because its disk is full."""

    def __init__(self, path: Path) -> None:
        super().__init__(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

    def __str__(self) -> str:
        return disk_full_text(Path(self.filename))


def disk_full_text(path: Path) -> str:
    """The sentence for a path that could not be written because its disk is full."""
    existing = next(parent for parent in (path, *path.absolute().parents) if parent.exists())
    return (
        f"the disk of {path} is full ({shutil.disk_usage(existing).free / 1e6:.3g} MB are free): free some of it, or "
        "name a folder on another disk with runtime.results=FOLDER"
    )


def os_error_text(error: OSError) -> str:
    """The sentence for whatever the system refused: of a full disk, which path and what to do."""
    if error.errno == errno.ENOSPC and not isinstance(error, DiskFull):
        return disk_full_text(Path(os.fsdecode(error.filename)) if error.filename else Path.cwd())
    return str(error)


def _nothing_to_check() -> None:
    """The writer is alone."""


@contextmanager
def replacing(path: Path, before_replacing: Callable[[], None] = _nothing_to_check) -> Iterator[Path]:
    """A path to write to, which takes the place of `path` when the block ends without an error, and else is removed.

    The content is on the disk before it gets its name, so that a crash of the machine leaves the old file or the new.
    `before_replacing` is called between the two; what it raises leaves the old file. Raises DiskFull.
    """
    part = path.with_name(f"{path.name}.{uuid.uuid4().hex}.part")
    try:
        yield part
        with part.open("rb") as file:
            os.fsync(file.fileno())
        before_replacing()
        part.replace(path)
    except (OSError, RuntimeError) as error:  # torch raises the latter
        if is_disk_full(error, path.parent):
            raise DiskFull(path) from error
        raise
    finally:
        part.unlink(missing_ok=True)


def is_disk_full(error: BaseException, folder: Path) -> bool:
    """Whether a write in this folder failed because its disk is full."""
    if isinstance(error, OSError):
        return error.errno == errno.ENOSPC
    return folder.exists() and shutil.disk_usage(folder).free < FULL_BELOW_BYTES


def write_text(path: Path, text: str, replace: Replacing = replacing) -> None:
    """Write the whole text or none of it."""
    with replace(path) as part:
        part.write_text(text, encoding="utf-8", newline="")


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Whatever fails while the block reads this file is raised as DamagedFile, with the file's name and a reason.

    A file that is absent, or that may not be read, is not damaged: FileNotFoundError and PermissionError pass.
    """
    try:
        yield
    except (FileNotFoundError, PermissionError, MemoryError, DamagedFile):
        raise
    except Exception as error:  # parsers raise whatever they like at garbage
        raise DamagedFile(path, _damage_text(path, error)) from error


def _damage_text(path: Path, error: Exception) -> str:
    if path.is_dir():
        return "it is a folder"
    if path.exists() and not path.stat().st_size:
        return "it is empty"
    line = next(iter(str(error).splitlines()), "")
    return f"{type(error).__name__}: {line}" if not isinstance(error, KeyError) else f"it has no {error}"


def read_json(path: Path, *required: str) -> dict[str, Any]:
    """The mapping in a JSON file. Raises DamagedFile for anything else, and where a required key is missing."""
    with reading(path):
        return mapping_with(json.loads(path.read_text(encoding="utf-8")), required)


def read_csv_rows(path: Path, *required: str) -> list[dict[str, str]]:
    """The rows of a CSV file by its header. Raises DamagedFile where it is cut or lacks a required column."""
    with reading(path):
        text = path.read_text(encoding="utf-8")
        if not text.endswith("\n"):
            raise ValueError("it ends within a line")
        rows = csv.DictReader(io.StringIO(text), strict=True)
        mapping_with(dict.fromkeys(rows.fieldnames or ()), required)
        return [{str(key): str(value) for key, value in row.items()} for row in rows]


def mapping_with(content: object, required: Iterable[str]) -> dict[str, Any]:
    """The content as the mapping that it is. Raises TypeError for anything else, KeyError for a missing key."""
    if not isinstance(content, dict):
        raise TypeError(f"a mapping was expected, not {type(content).__name__}")
    for key in required:
        if key not in content:
            raise KeyError(key)
    return content
