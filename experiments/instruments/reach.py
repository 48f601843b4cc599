"""What a model's output at one place depends on, found by changing the rest: no name of a part says it for sure."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch

from components.initialise import key
from components.model import Decoder
from components.shapes import Logits, Tokens

ROWS, LEAST = 2, 2  # sequences of a batch; tokens without which there is no later one
SPREAD = 0.1  # of what is added to each weight, so that gates that begin at zero are open


def sees_future(model: Decoder) -> bool:
    """Whether another last token changes any earlier position's logits, in training or without it.

    While it is tried each weight is off by a small random number; afterwards all are what they were.
    """
    if model.sizes.context < LEAST:
        return False
    tokens = _random_tokens(model)
    changed = tokens.clone()
    changed[:, -1] = (tokens[:, -1] + 1) % model.sizes.vocabulary
    return any(not _alike(before[:, :-1], after[:, :-1]) for before, after in _both(model, tokens, changed))


def reads_across_batch(model: Decoder) -> bool:
    """Whether other sequences in a batch change the logits of its first, in training or without it; tried
    like `sees_future`.
    """
    tokens = _random_tokens(model)
    changed = torch.cat([tokens[:1], (tokens[1:] + 1) % model.sizes.vocabulary])
    return any(not _alike(before[0], after[0]) for before, after in _both(model, tokens, changed))


def _random_tokens(model: Decoder) -> Tokens:
    generator = torch.Generator().manual_seed(key("reach"))
    return torch.randint(model.sizes.vocabulary, (ROWS, model.sizes.context), generator=generator)


@torch.no_grad()
def _both(model: Decoder, tokens: Tokens, changed: Tokens) -> Iterator[tuple[Logits, Logits]]:
    """The logits of both batches, in training, then without it; what is dropped or drawn is the same for both."""
    with _moved_weights(model):
        for training in (True, False):
            model.train(training)
            yield _logits(model, tokens), _logits(model, changed)


def _logits(model: Decoder, tokens: Tokens) -> Logits:
    """From the same state of all random numbers and buffers each time."""
    buffers = [buffer.clone() for buffer in model.buffers()]
    with torch.random.fork_rng([]):
        torch.manual_seed(0)
        logits = model.forward(tokens)
    for buffer, before in zip(model.buffers(), buffers, strict=True):
        buffer.copy_(before)
    return logits


@contextmanager
def _moved_weights(model: Decoder) -> Iterator[None]:
    """While this lasts, each weight is off by a small random number."""
    generator = torch.Generator().manual_seed(key("reach", "weights"))
    before = [weight.clone() for weight in model.parameters()]
    for weight in model.parameters():
        weight.add_(SPREAD * torch.randn(weight.shape, generator=generator, dtype=weight.dtype))
    try:
        yield
    finally:
        for weight, old in zip(model.parameters(), before, strict=True):
            weight.copy_(old)


def _alike(first: Logits, second: Logits) -> bool:
    """Whether they are the same bit for bit, or no numbers at the same places."""
    return bool(((first == second) | (first.isnan() & second.isnan())).all())
