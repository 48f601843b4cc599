"""A configuration as flat columns."""

from collections.abc import Mapping
from typing import Any


def settings(config: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """A configuration as flat columns; a part's name stands under its kind.

    >>> settings({"norm": {"name": "rmsnorm", "eps": 1e-5}, "batch_size": 16})
    {'norm': 'rmsnorm', 'norm.eps': 1e-05, 'batch_size': 16}
    """
    flat: dict[str, Any] = {}
    for key, value in config.items():
        path = prefix if key == "name" and prefix else f"{prefix}.{key}".lstrip(".")
        flat |= settings(value, path) if isinstance(value, dict) else {path: value}
    return flat
