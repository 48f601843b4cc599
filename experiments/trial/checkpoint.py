"""Where a trial stands, so that it can go on from there; and the weights that it ends with."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from analysis.record.files import DamagedFile, Replacing, reading, replacing
from analysis.record.layout import BEST, CHECKPOINT, WEIGHTS
from experiments.instruments.cost import GB


class Stopped(SystemExit):
    """A trial ends before its last step because it was asked to."""


@dataclass(frozen=True)
class Checkpoint:
    """All that the next step depends on besides the configuration: torch's own types and plain ones."""

    step: int
    tokens: int
    solved: bool
    best: tuple[float, int]
    model: dict[str, Any]
    optimizer: dict[str, Any]
    schedule: dict[str, Any]
    history: torch.Tensor
    code: str

    @classmethod
    def read(cls, folder: Path, code: str) -> Checkpoint | None:
        """The folder's checkpoint, if there is one that this code wrote. Raises DamagedFile if it cannot be read."""
        path = folder / CHECKPOINT
        if not path.exists():
            return None
        with reading(path):
            checkpoint = cls(**torch.load(path, weights_only=True, map_location="cpu"))
        return checkpoint if checkpoint.code == code else None


def read_weights(path: Path) -> dict[str, torch.Tensor]:
    """The weights in a file. Raises DamagedFile if it cannot be read."""
    with reading(path):
        state = torch.load(path, weights_only=True, map_location="cpu")
    if not isinstance(state, dict):
        raise DamagedFile(path, f"weights by their names were expected, not {type(state).__name__}")
    return state


def save_atomically(path: Path, state: object, replace: Replacing = replacing) -> None:
    """The whole file or none of it."""
    with replace(path) as part, part.open("wb") as file:  # given a path, torch writes its name into the archive
        torch.save(state, file)


def keep_weights(
    folder: Path, model: torch.nn.Module, limit: float, name: str = WEIGHTS, replace: Replacing = replacing
) -> None:
    """Keep the weights while all that are kept in the results folder stay within `limit` gigabytes."""
    size = sum(p.numel() * p.element_size() for p in model.parameters())
    others = {path for kept in (WEIGHTS, BEST) for path in folder.parent.glob(f"*/{kept}")} - {folder / name}
    if sum(path.stat().st_size for path in others) + size <= limit * GB:
        save_atomically(folder / name, model.state_dict(), replace)
