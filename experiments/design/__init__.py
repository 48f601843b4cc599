"""Designs turn a study's factors into arms."""

from typing import Protocol

from components.registry import Registry

Levels = dict[str, str]


class Design(Protocol):
    """Arms as {factor: level}; each factor's first level is its baseline, and the first arm has them all."""

    def __init__(self, factors: dict[str, list[str]]) -> None: ...


designs: Registry[list[Levels]] = Registry(Design)


def baseline(factors: dict[str, list[str]]) -> Levels:
    """Every factor at its first level."""
    return {factor: levels[0] for factor, levels in factors.items()}
