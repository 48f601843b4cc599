"""The configuration of a trial: `config.yaml`."""

from pathlib import Path
from typing import Any

from analysis.record.layout import CONFIG
from analysis.record.plain import read_yaml

REQUIRED_KEYS = ("model", "trainer", "data", "code")


def read_config(folder: Path) -> dict[str, Any]:
    """A trial's configuration. Raises DamagedFile where it cannot be read."""
    return read_yaml(folder / CONFIG, *REQUIRED_KEYS)
