"""Objectives score logits against targets."""

from typing import Protocol

from components.registry import Registry
from components.shapes import Logits, Losses, Tokens


class Objective(Protocol):
    """The loss of every token (nats), 0 where the target is ignored."""

    def __init__(self) -> None: ...
    def __call__(self, logits: Logits, targets: Tokens) -> Losses: ...


objectives: Registry[Objective] = Registry(Objective)
