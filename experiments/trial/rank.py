"""Which of a trial's processes this one is."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Rank:
    """One of the processes that train a trial together; together they read what one alone would.

    `others_on_device` is how many other trials may run on its device meanwhile, None where nobody knows. `rendezvous`
    is the path of a file, not made yet, through which several processes find each other.
    """

    number: int = 0
    world: int = 1
    others_on_device: int | None = 0
    rendezvous: str = ""


SINGLE = Rank()
