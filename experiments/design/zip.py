"""Levels that belong together, one of each factor at a time."""

from experiments.design import Levels, designs


@designs.register("zip")
def zipped(factors: dict[str, list[str]]) -> list[Levels]:
    """The n-th arm has the n-th level of every factor

    Raises ValueError if the factors have different numbers of levels.
    Source: the built-in zip of Python.

    >>> zipped({"objective.z_loss": ["0", "1e-4"], "optimizer.lr": ["1e-3", "3e-3"]})[1]
    {'objective.z_loss': '1e-4', 'optimizer.lr': '3e-3'}
    """
    if len({len(levels) for levels in factors.values()}) > 1:
        counts = ", ".join(f"{factor} has {len(levels)}" for factor, levels in factors.items())
        raise ValueError(f"design=zip takes as many levels of every factor: {counts}")
    return [dict(zip(factors, levels, strict=True)) for levels in zip(*factors.values(), strict=True)]
