"""Texts of a results folder, each whole or not there."""

import uuid
from pathlib import Path


def write(path: Path, text: str) -> None:
    """The whole text or none of it, whoever else writes or reads it at the same moment."""
    part = path.with_name(f"{path.name}.{uuid.uuid4().hex}.part")
    try:
        part.write_text(text, encoding="utf-8", newline="")
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
