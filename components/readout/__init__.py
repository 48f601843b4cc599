"""Readouts turn the last state into logits over the vocabulary."""

from typing import Protocol

from torch import nn

from components.linear import Embedding
from components.registry import Registry
from components.shapes import Hidden, Logits


class Readout(Protocol):
    """The stream to logits; `embedding` is the table that embedded the tokens."""

    def __init__(self, embedding: Embedding) -> None: ...
    def __call__(self, x: Hidden) -> Logits: ...


readouts: Registry[nn.Module] = Registry(Readout)
