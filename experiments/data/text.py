"""Any text file."""

import hashlib
from enum import StrEnum
from pathlib import Path

import torch

from experiments.data import Stream, datas, encoded


class Unit(StrEnum):
    """What a token is."""

    characters = "characters"
    bytes = "bytes"


@datas.register("text")
def text(
    context: int, *, path: Path, unit: Unit = Unit.characters, validation: float = 0.1, validation_tokens: int = 65_536
) -> Stream:
    """The characters (UTF-8) or bytes of one file; its last part validates

    Bytes are mapped, not read, so a file may be larger than memory.
    Raises FileNotFoundError if there is no file at `path`, ValueError if it is not UTF-8 and characters are asked for.
    """
    if not path.is_file():
        raise FileNotFoundError(f"data.path={path}: there is no such file")
    if path.stat().st_size == 0:
        raise ValueError(f"data.path={path} is empty")
    with path.open("rb") as file:
        content = hashlib.file_digest(file, "sha256").hexdigest()
    if Unit(unit) is Unit.bytes:
        tokens, vocabulary = torch.from_file(str(path), size=path.stat().st_size, dtype=torch.uint8), 256
    else:
        tokens, vocabulary = encoded(_read(path))
    return Stream(tokens, vocabulary, f"{content}/{Unit(unit)}", context, validation, validation_tokens)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"data.path={path} is not UTF-8 text (byte {error.start}); type data.unit=bytes to use its bytes"
        ) from error
