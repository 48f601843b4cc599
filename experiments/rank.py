"""Which of a trial's processes this one is."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Rank:
    """One of the processes that train a trial together; together they read what one alone would.

    `beside` is how many other trials may run on its device meanwhile, None where nobody knows.
    """

    number: int = 0
    world: int = 1
    beside: int | None = 0


SINGLE = Rank()
