"""Any text file."""

import hashlib
import re
from collections import Counter
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path

import torch
from torch import Tensor

from experiments.alphabet import OTHER, Alphabet, Bytes
from experiments.data import Stream, datas, encoded

WORD = r"\w+|[^\w\s]"


class Unit(StrEnum):
    """What a token is."""

    characters = "characters"
    bytes = "bytes"
    words = "words"


@datas.register("text")
def text(
    context: int,
    *,
    path: Path,
    unit: Unit = Unit.characters,
    words: int = 10_000,
    validation: float = 0.1,
    validation_tokens: int = 65_536,
) -> Stream:
    """The characters (UTF-8), bytes or words of one file; its last part validates

    Bytes are mapped, not read, so a file may be larger than memory. A word is a run of letters, digits and
    underscores, or a single other mark; white space only separates. The most frequent words of the training part
    are tokens of their own, `words` in all; whatever else there is shares token 0.
    Raises FileNotFoundError if there is no file at `path`, ValueError if it is not UTF-8 and not read as bytes.
    """
    if not path.is_file():
        raise FileNotFoundError(f"data.path={path}: there is no such file")
    if path.stat().st_size == 0:
        raise ValueError(f"data.path={path} is empty")
    with path.open("rb") as file:
        content = hashlib.file_digest(file, "sha256").hexdigest()
    read: dict[Unit, Callable[[], tuple[Tensor, Alphabet]]] = {
        Unit.bytes: lambda: (torch.from_file(str(path), size=path.stat().st_size, dtype=torch.uint8), Bytes()),
        Unit.characters: lambda: encoded(_read(path)),
        Unit.words: lambda: _worded(_read(path), words, validation),
    }
    return Stream(*read[Unit(unit)](), f"{content}/{Unit(unit)}", context, validation, validation_tokens)


def _worded(text: str, most: int, validation: float) -> tuple[Tensor, Alphabet]:
    """Words as numbers, 1 for the most frequent of the training part, and the words.

    >>> tokens, alphabet = _worded("a cat, a dog, a bird", 3, 0.2)
    >>> tokens, alphabet.symbols
    (tensor([1, 0, 2, 1, 0, 2, 1, 0], dtype=torch.int32), ['⟨other⟩', 'a', ','])
    """
    found = re.findall(WORD, text)
    counts = Counter(found[: len(found) - round(validation * len(found))])
    numbers = {word: number for number, (word, _) in enumerate(counts.most_common(most - 1), start=1)}
    return torch.tensor([numbers.get(word, 0) for word in found], dtype=torch.int32), Alphabet(
        [OTHER, *numbers], " ", WORD
    )


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"data.path={path} is not UTF-8 text (byte {error.start}); type data.unit=bytes to use its bytes"
        ) from error
