"""Whether an arm's model reads what it is asked for: tried on the assembled model, whatever its parts are called."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypedDict

import torch

from components.model import Decoder
from experiments.instruments.reach import reads_across_batch, sees_future
from experiments.objective import Objective
from experiments.trial.build import build_model
from experiments.trial.meaning import asks_for_later_tokens

LARGEST_CONTEXT, LARGEST_WIDTH, LARGEST_HEAD, VOCABULARY = 128, 256, 16, 64  # that are tried as they are


class Sight(TypedDict):
    """What a model reads besides what comes before, and why that could not be tried."""

    sees_future: bool
    reads_across_batch: bool
    untried: str


def try_reach(config: Mapping[str, Any], objective: Objective) -> Sight:
    """Try a small copy of the arm's model on one thread of the CPU, in float32.

    A model whose parts do not run there, such as kernels of a GPU, is not tried; `untried` has its error.
    """
    try:
        with _on_one_thread():
            model = _small_model(config, VOCABULARY + objective.extra_tokens)
            ahead = asks_for_later_tokens(objective) and sees_future(model)
            return Sight(sees_future=ahead, reads_across_batch=reads_across_batch(model), untried="")
    except Exception as error:  # whatever a part of the user's says; training will say it too, if it is a fault
        return Sight(sees_future=False, reads_across_batch=False, untried=f"{type(error).__name__}: {error}")


def _small_model(config: Mapping[str, Any], vocabulary: int) -> Decoder:
    """The arm's model with few kinds of tokens; narrower and on shorter sequences where it is huge."""
    sizes = config["model"] | {"dropout": 0.0, "context": min(config["model"]["context"], LARGEST_CONTEXT)}
    if sizes["width"] > LARGEST_WIDTH:
        narrow = {"width": LARGEST_HEAD * sizes["heads"], "head_width": LARGEST_HEAD}
        try:
            return build_model({**config, "model": sizes | narrow}, vocabulary)[0]
        except ValueError:  # a part that needs the arm's own sizes
            pass
    return build_model({**config, "model": sizes}, vocabulary)[0]


@contextmanager
def _on_one_thread() -> Iterator[None]:
    """So little work is slower on several, and many times so while others use them."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
