"""What a model has and never uses: it changes no number, or should not be there."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from unittest import mock

from components.model import Decoder
from components.position import Position

ENTRIES = ("embed", "rotate", "bias")


@contextmanager
def unread(model: Decoder) -> Iterator[set[str]]:
    """Kinds that are found without effect while the model runs within: positions of which nothing was asked.

    A recurrent mixer asks for no rotation and no bias, so that with it `rope` and `alibi` are as good as `none`.
    """
    found = {"position"}
    own = [name for name in ENTRIES if getattr(type(model.position), name) is not getattr(Position, name)]
    with ExitStack() as stack:
        entries = {name: getattr(model.position, name) for name in own}
        asked = [stack.enter_context(mock.patch.object(model.position, n, wraps=e)) for n, e in entries.items()]
        yield found
    if any(entry.called for entry in asked):
        found.clear()


def refuse_unused(model: Decoder) -> None:
    """Raises ValueError if the loss reaches some weights of a model not at all, after a backward pass."""
    unused = [name for name, weight in model.named_parameters() if weight.grad is None]
    if unused:
        raise ValueError(
            f"nothing in this model reads {', '.join(unused)}: these weights would never train; choose another "
            f"{unused[0].partition('.')[0]}, such as none"
        )
