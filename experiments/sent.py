"""What of a trial MLflow is sent, in the names and numbers that it takes; the record keeps all."""

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import yaml

from analysis.settings import settings
from experiments.folder import CONFIG

NOT_PARAMETERS = ("label", "git", "asked_by", "runtime")
POINTS = 100  # of a curve that MLflow is shown; the record keeps all
LONGEST, CUT = 250, 6000  # characters of a name and of a value; the record has what is cut here


def legal(name: str) -> str:
    """A metric's or parameter's name in the characters that MLflow takes, different for different names.

    >>> legal("val/loss"), legal("effect/norm=rmsnorm/val/loss")
    ('val/loss', 'effect/norm:3d:rmsnorm/val/loss')
    """
    spelt = re.sub(r"[^\w.\- /]", lambda found: f":{ord(found.group()):x}:", name, flags=re.ASCII)
    spelt = "/".join(word if word.strip(".") else f":{word}:".replace(".", "2e") for word in spelt.split("/"))
    return spelt if len(spelt) <= LONGEST else f"{spelt[:200]}:{hashlib.sha256(name.encode()).hexdigest()[:12]}"


def parameters(folder: Path) -> Iterator[Any]:
    """A trial's settings by their names; seeds and parts too, not what changes no number."""
    from mlflow.entities import Param

    config = yaml.safe_load((folder / CONFIG).read_text(encoding="utf-8"))
    for key, value in settings({key: value for key, value in config.items() if key not in NOT_PARAMETERS}).items():
        yield Param(legal(key), str(value)[:CUT])


def stride(folder: Path) -> int:
    """Every how many steps a value is sent, for about `POINTS` points of a curve."""
    config = yaml.safe_load((folder / CONFIG).read_text(encoding="utf-8"))
    return max(1, config["trainer"]["max_steps"] // POINTS)


def points(history: pa.Table, after: int, stride: int) -> Iterator[tuple[str, float, int]]:
    """Values of later steps: every `stride`-th step of what is measured at each, all of what is measured seldom."""
    steps = history["step"].to_pylist()
    for name in history.column_names[2:]:
        values = history[name].to_pylist()
        seldom = sum(value is not None for value in values) < len(values) / 2
        yield from (
            (name, v, s)
            for v, s in zip(values, steps, strict=True)
            if v is not None and s > after and (seldom or s % stride == 0)
        )
