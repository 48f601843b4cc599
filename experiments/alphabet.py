"""What tokens are called, so that a person can read them and write some."""

import difflib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

OTHER = "⟨other⟩"  # the token of all words that have none of their own; no text has it as a symbol
ADDED = "⟨added⟩"  # a token that is no datum: an objective has added it


@dataclass(frozen=True)
class Alphabet:
    """A symbol for each token; a text is cut into symbols by a pattern, and made of symbols with `between` between.

    >>> numbers = Alphabet(["0", "1", "2"], " ", r"[^ ]+")
    >>> numbers.read("2 0"), numbers.text([1, 2])
    (tensor([2, 0]), '1 2')
    """

    symbols: Sequence[str]
    between: str = ""
    pattern: str = r"(?s)."

    def read(self, text: str) -> Tensor:
        """The tokens of a text. Raises ValueError for a symbol that the data do not have, naming the nearest."""
        numbers = {symbol: number for number, symbol in enumerate(self.symbols)}
        found = re.findall(self.pattern, text)
        for symbol in found:
            if symbol not in numbers and OTHER not in numbers:
                near = difflib.get_close_matches(symbol, self.symbols, n=1)
                hint = f" (did you mean {near[0]!r}?)" if near else ""
                raise ValueError(f"{symbol!r} is no token of these data{hint}; there are: {self._shown()}")
        return torch.tensor([numbers.get(symbol, 0) for symbol in found], dtype=torch.long)

    def spelled(self, tokens: Iterable[int]) -> list[str]:
        """Each token's symbol."""
        return [self.symbols[token] if token < len(self.symbols) else ADDED for token in tokens]

    def text(self, tokens: Iterable[int]) -> str:
        """The text that these tokens are."""
        return self.between.join(self.spelled(tokens))

    def _shown(self) -> str:
        shown = [symbol if symbol.strip() else repr(symbol) for symbol in self.symbols]
        return " ".join(shown if len(shown) <= 120 else [*shown[:60], "…", *shown[-20:]])


class Bytes(Alphabet):
    """The 256 bytes; a text is its UTF-8.

    >>> made = Bytes()
    >>> made.read("ü").tolist(), made.text([195, 188])
    ([195, 188], 'ü')
    """

    def __init__(self) -> None:
        super().__init__([bytes([number]).decode("latin-1") for number in range(256)])

    def read(self, text: str) -> Tensor:
        """The bytes of a text."""
        return super().read(text.encode().decode("latin-1"))

    def text(self, tokens: Iterable[int]) -> str:
        """The text that these bytes are, with a mark where they are none."""
        return bytes(token for token in tokens if token < len(self.symbols)).decode("utf-8", errors="replace")


def numbered(count: int) -> Alphabet:
    """Tokens that have no name but their number."""
    return Alphabet([str(number) for number in range(count)], " ", r"\S+")
