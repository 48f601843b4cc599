"""Inits say how far from zero weights start, by the role they play."""

from typing import Protocol

from components.registry import Registry


class Init(Protocol):
    """Standard deviations at initialisation, of normal distributions around zero.

    `depth` counts the model's layers; a writer is a linear map whose output joins the stream.
    """

    def __init__(self, depth: int) -> None: ...
    def embedding(self, width: int) -> float:
        """Of token embeddings and learned positions."""
        ...

    def linear(self, fan_in: int, fan_out: int) -> float:
        """Of linear maps, those of recurrent cells among them."""
        ...

    def writer(self, fan_in: int, fan_out: int) -> float:
        """Of linear maps into the residual stream."""
        ...


inits: Registry[Init] = Registry(Init)
