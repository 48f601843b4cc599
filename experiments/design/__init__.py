"""Designs turn a study's factors into arms."""

from itertools import combinations
from operator import mul
from typing import Protocol

from components.registry import Registry

Levels = dict[str, str]


class Design(Protocol):
    """Arms as {factor: level}; each factor's first level is its baseline, and the first arm has them all."""

    def __init__(self, factors: dict[str, list[str]]) -> None: ...


designs: Registry[list[Levels]] = Registry(Design)


def aliases(arms: list[Levels]) -> list[str]:
    """Which main effects and two-factor interactions of two-level factors cannot be told apart by these arms.

    >>> half = ["111", "122", "212", "221"]
    >>> aliases([{"a": arm[0], "b": arm[1], "c": arm[2]} for arm in half])
    ['a and b × c', 'b and a × c', 'c and a × b']
    """
    names = [name for name in arms[0] if len({arm.get(name) for arm in arms}) == 2]
    signs = {name: [1 if arm.get(name) == arms[0][name] else -1 for arm in arms] for name in names}
    for first, second in combinations(names, 2):
        signs[f"{first} × {second}"] = list(map(mul, signs[first], signs[second]))  # `zip` is a part's module here
    alike: dict[tuple[int, ...], list[str]] = {}
    for effect, column in signs.items():
        alike.setdefault(tuple(sign * column[0] for sign in column), []).append(effect)
    return [" and ".join(effects) for effects in alike.values() if len(effects) > 1]


def refuse_other_than_two(design: str, factors: dict[str, list[str]]) -> None:
    """Raises ValueError if a factor has other than two levels."""
    for factor, levels in factors.items():
        if len(levels) != 2:
            raise ValueError(f"design={design} takes two levels a factor, {factor} has {len(levels)}: {levels}")


def baseline(factors: dict[str, list[str]]) -> Levels:
    """Every factor at its first level."""
    return {factor: levels[0] for factor, levels in factors.items()}
