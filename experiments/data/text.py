"""Any text file."""

import hashlib
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from pathlib import Path

import torch
from torch import Tensor

from components.domains import Count, ProperShare, Several
from experiments.data import Spelling, TokenStream, character_sizes, datas, encode_characters, first_held_out
from experiments.data._vocabulary import OTHER, ByteVocabulary, Vocabulary

WORD = r"\w+|[^\w\s]"
SCANNED = 1 << 24  # bytes of a file that are looked at together


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
    words: Several = 10_000,
    validation: ProperShare = 0.1,
    validation_tokens: Count = 65_536,
) -> TokenStream:
    """The characters (UTF-8), bytes or words of one file; its last part, a share of its characters, validates

    The part is the same under every unit, to within a word, so that `val/bits_per_byte` compares them; each unit scores
    its own windows, evenly spread over that part. Bytes are mapped, not read, so a file may be larger than memory. A
    word is a run of letters, digits and underscores, or a single other mark; white space only separates. The most
    frequent words of the training part are tokens of their own, `words` in all; whatever else there is shares token 0.
    Raises FileNotFoundError if there is no file at `path`, ValueError if it is not UTF-8 and not read as bytes.
    """
    if not path.is_file():
        raise FileNotFoundError(f"data.path={path}: there is no such file")
    if path.stat().st_size == 0:
        raise ValueError(f"data.path={path} is empty")
    with path.open("rb") as file:
        content = hashlib.file_digest(file, "sha256").hexdigest()
    read: dict[Unit, Callable[[], CutText]] = {
        Unit.bytes: lambda: _cut_into_bytes(path, content, validation),
        Unit.characters: lambda: _cut_into_characters(_read(path), validation),
        Unit.words: lambda: _cut_into_words(_read(path), words, validation),
    }
    cut = read[Unit(unit)]()
    spelling = Spelling(cut.text, cut.sizes, cut.split)
    return TokenStream(
        cut.tokens, cut.vocabulary, f"{content}/{Unit(unit)}", context, validation, validation_tokens, spelling
    )


@dataclass(frozen=True)
class CutText:
    """A text as tokens, their names, the bytes of each, and how many come before the part that validates.

    `text` is its hash: the file's, unless reading it as text has changed it, as with line ends of two characters.
    """

    text: str
    tokens: Tensor
    vocabulary: Vocabulary
    sizes: Tensor
    split: int


def _cut_into_characters(text: str, validation: float) -> CutText:
    tokens, vocabulary = encode_characters(text)
    sizes, split = character_sizes(tokens, vocabulary), first_held_out(len(tokens), validation)
    return CutText(_hash(text), tokens, vocabulary, sizes, split)


def _cut_into_bytes(path: Path, content: str, validation: float) -> CutText:
    """The bytes of a file, which are mapped; a character begins at each that continues none (10xxxxxx)."""
    tokens = torch.from_file(str(path), size=path.stat().st_size, dtype=torch.uint8)
    begun = [int(((piece & 0xC0) != 0x80).sum()) for piece in tokens.split(SCANNED)]
    before = first_held_out(sum(begun), validation)
    sizes = torch.ones((), dtype=torch.uint8).expand(len(tokens))
    return CutText(content, tokens, ByteVocabulary(), sizes, _place_of_character(tokens, begun, before))


def _place_of_character(tokens: Tensor, begun: list[int], before: int) -> int:
    """The byte at which the character begins before which there are so many, of which each piece begins some."""
    for number, piece in enumerate(tokens.split(SCANNED)):
        if before < begun[number]:
            return number * SCANNED + int(((piece & 0xC0) != 0x80).nonzero()[before])
        before -= begun[number]
    return len(tokens)


def _cut_into_words(text: str, most: int, validation: float) -> CutText:
    """Words as numbers, 1 for the most frequent of the training part; one that reaches into the part that validates
    trains.

    >>> cut = _cut_into_words("a cat, a dog, a bird", 3, 0.2)
    >>> cut.tokens, cut.vocabulary.symbols
    (tensor([1, 0, 2, 1, 0, 2, 1, 0], dtype=torch.int32), ['⟨other⟩', 'a', ','])
    >>> cut.sizes, cut.split  # each with the white space before it
    (tensor([1, 4, 1, 2, 4, 1, 2, 5], dtype=torch.int32), 7)
    """
    found = list(re.finditer(WORD, text))
    before = first_held_out(len(text), validation)
    split = sum(each.start() < before for each in found)
    counts = Counter(each.group() for each in found[:split])
    numbers = {word: number for number, (word, _) in enumerate(counts.most_common(most - 1), start=1)}
    ends = [0, *(each.end() for each in found)]
    sizes = [len(text[start:end].encode("utf-8")) for start, end in pairwise(ends)]
    tokens = [numbers.get(each.group(), 0) for each in found]
    return CutText(
        _hash(text), torch.tensor(tokens, dtype=torch.int32), Vocabulary([OTHER, *numbers], " ", WORD),
        torch.tensor(sizes, dtype=torch.int32), split,
    )  # fmt: skip


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"data.path={path} is not UTF-8 text (byte {error.start}); type data.unit=bytes to use its bytes"
        ) from error
