"""Data: token sequences, with what is known about them."""

from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from components.initialise import key
from components.registry import Registry
from components.shapes import Tokens
from experiments.alphabet import Alphabet, numbered

IGNORED = -100


class Batch(NamedTuple):
    """What a model reads and what it is scored on; targets of `IGNORED` are not scored.

    A sum of losses is divided by `scored` for their mean: the number of scored targets, or a piece's share of them.
    """

    inputs: Tokens
    targets: Tokens
    scored: Tensor

    @classmethod
    def of(cls, inputs: Tokens, targets: Tokens) -> "Batch":
        """A whole batch; one without a scored target counts for nothing."""
        return cls(inputs, targets, (targets != IGNORED).sum().clamp_min(1))

    def pieces(self, size: int) -> "list[Batch]":
        """Cut into batches of `size` sequences, whose mean losses have the whole batch's loss as their mean."""
        inputs, targets = self.inputs.split(size), self.targets.split(size)
        return [Batch(i, t, self.scored / len(inputs)) for i, t in zip(inputs, targets, strict=True)]


class Data(Protocol):
    """Training batches that depend on (seed, step) alone, and one validation set for all arms and seeds.

    `vocabulary` counts the tokens, `floor` is the lowest loss that can be reached (nats/token) or None where
    nobody knows it, `solved_at` the accuracy from which a task counts as solved, or None where that has no
    meaning, `content` a hash of what the tokens are, wherever they lie, `alphabet` what they are called.
    """

    vocabulary: int
    alphabet: Alphabet
    floor: float | None
    solved_at: float | None
    content: str

    def __init__(self, context: int) -> None: ...
    def train(self, size: int, seed: int, step: int) -> Batch:
        """`size` sequences of at most `context` tokens."""
        ...

    def validation(self) -> Batch:
        """The whole validation set."""
        ...


datas: Registry[Data] = Registry(Data)


class Task:
    """Sequences drawn afresh for every step by `draw`, which a task overrides; the validation set is drawn once.

    Raises ValueError if a sequence of the task is longer than the context.
    """

    solved_at = 0.95

    def __init__(self, context: int, length: int, vocabulary: int, *, floor: float | None = 0.0) -> None:
        if length > context:
            raise ValueError(f"sequences of this task have {length} tokens, more than model.context={context}")
        if vocabulary < 2:
            raise ValueError(f"a vocabulary of {vocabulary} leaves nothing to predict; give at least 2")
        self.length, self.vocabulary, self.floor = length, vocabulary, floor
        self.content = f"drawn by {type(self).__name__}"
        self.alphabet = numbered(vocabulary)

    def draw(self, size: int, generator: torch.Generator) -> Batch:
        """`size` sequences and what is scored of them."""
        raise NotImplementedError

    def train(self, size: int, seed: int, step: int) -> Batch:
        """New sequences for every (seed, step)."""
        return self.draw(size, torch.Generator().manual_seed(key("batch", seed, step)))

    def validation(self) -> Batch:
        """512 sequences, the same for all."""
        return self.draw(512, torch.Generator().manual_seed(key("validation")))


def only(targets: Tokens, scored: Tensor) -> Tokens:
    """Targets where `scored`, ignored elsewhere."""
    return targets.masked_fill(~scored, IGNORED)


class Stream:
    """One long sequence of tokens: its last part validates, windows of the rest train.

    Raises ValueError if either part is too short for one window.
    """

    floor = None
    solved_at = None

    def __init__(
        self, tokens: Tensor, alphabet: Alphabet, content: str, context: int, validation: float, validation_tokens: int
    ) -> None:
        if not 0 < validation < 1:
            raise ValueError(f"data.validation={validation}: a share of the text, above 0 and below 1")
        split = len(tokens) - round(validation * len(tokens))
        self.vocabulary, self.alphabet, self.content, self.context = len(alphabet.symbols), alphabet, content, context
        self._train, held_out = tokens[:split], tokens[split:]
        for part, what in ((self._train, "training"), (held_out, "validation")):
            if len(part) <= context:
                raise ValueError(
                    f"the {what} text has {len(part)} tokens, fewer than the {context + 1} that one sequence of "
                    f"model.context={context} needs; give a longer text or a shorter context"
                )
        starts = torch.arange(0, len(held_out) - context, context)
        kept = min(len(starts), max(1, validation_tokens // context))
        self._validation = self._windows(held_out, starts[torch.linspace(0, len(starts) - 1, kept).long()])

    def train(self, size: int, seed: int, step: int) -> Batch:
        """`size` windows that start anywhere in the training part."""
        generator = torch.Generator().manual_seed(key("batch", seed, step))
        return self._windows(self._train, torch.randint(len(self._train) - self.context, (size,), generator=generator))

    def validation(self) -> Batch:
        """Evenly spread windows that do not overlap."""
        return self._validation

    def _windows(self, tokens: Tensor, starts: Tensor) -> Batch:
        rows = tokens[starts[:, None] + torch.arange(self.context + 1)].long()
        return Batch.of(rows[:, :-1], rows[:, 1:])


def encoded(text: str) -> tuple[Tensor, Alphabet]:
    """Characters as numbers 0 … V − 1 in the order of their code points, and these characters.

    >>> encoded("abca")
    (tensor([0, 1, 2, 0], dtype=torch.int32), Alphabet(symbols=['a', 'b', 'c'], between='', pattern='(?s).'))
    """
    points = torch.frombuffer(bytearray(text.encode("utf-32-le")), dtype=torch.int32)
    characters, tokens = points.unique(return_inverse=True)
    return tokens.int(), Alphabet([chr(point) for point in characters.tolist()])
