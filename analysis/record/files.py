"""Files that are complete or absent, whoever else writes or reads them at the same moment."""

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A path to write to, which takes the place of `path` when the block ends without an error, and else is removed.

    The content is on the disk before it gets its name, so that a crash of the machine leaves the old file or the new.
    """
    part = path.with_name(f"{path.name}.{uuid.uuid4().hex}.part")
    try:
        yield part
        with part.open("rb") as file:
            os.fsync(file.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write the whole text or none of it."""
    with replacing(path) as part:
        part.write_text(text, encoding="utf-8", newline="")
