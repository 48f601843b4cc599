"""From a results folder to tables, effects and a page: `analysis.load("results", study="norm").effects()`.

This package reads files and never imports torch or the code that trains. Its rooms, each of which imports only rooms
before it: `record` (the results folder as a format), `tables`, `statistics`, `findings` (judgements and sentences),
`page`; `study` is what `load` and `from_frame` return.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # pandas takes a second to import, and trials import this package without needing it
    from analysis.study import from_frame as from_frame
    from analysis.study import load as load

EXPORTS = ("load", "from_frame")


def __getattr__(name: str) -> object:
    """Import what a notebook uses when it is first used."""
    if name not in EXPORTS:
        raise AttributeError(f"module 'analysis' has no attribute {name!r}; it has {', '.join(EXPORTS)}")
    return getattr(import_module("analysis.study"), name)
