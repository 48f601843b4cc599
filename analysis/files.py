"""Files of a results folder, each whole or not there."""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole(path: Path, writer: str = "") -> Iterator[Path]:
    """A place to write a file, which gets its name once the block has ended well, and is removed otherwise.

    `writer` tells writers of one file apart where there may be several at the same moment.
    """
    part = path.with_name(f"{path.name}{writer}.part")
    try:
        yield part
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def write(path: Path, text: str) -> None:
    """A text, whoever else writes it at the same moment."""
    with whole(path, f".{uuid.uuid4().hex}") as part:
        part.write_text(text, encoding="utf-8", newline="")
