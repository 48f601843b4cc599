"""From a results folder to tables, effects and a page: `analysis.load("results", study="norm").effects()`.

This package reads files and knows nothing of torch or of how trials were trained.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from analysis.results import load as load
    from analysis.table import from_frame as from_frame

HOMES = {"load": "analysis.results", "from_frame": "analysis.table"}


def __getattr__(name: str) -> Any:
    """What a notebook asks for, loaded by then: pandas takes a while, and whoever plans a study needs none of it."""
    if name not in HOMES:
        raise AttributeError(f"module 'analysis' has no attribute {name!r}; it has {', '.join(HOMES)}")
    return getattr(import_module(HOMES[name]), name)
