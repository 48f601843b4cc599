"""Attention maps as files: `attention/<step>.<number>.npz` in a trial's folder."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from experiments.folder import whole

FOLDER = "attention"


@dataclass(frozen=True)
class Map:
    """A sentence's symbols; by layer, every head's shares (head, query, key); each score by layer, one a head."""

    tokens: Sequence[str]
    shares: Mapping[str, np.ndarray]
    scores: Mapping[str, Mapping[str, np.ndarray]]


def save(home: Path, when: str, maps: Sequence[Map]) -> list[Path]:
    """One file a sentence, each whole or not there: arrays `tokens`, `shares/layers.0`, `previous_token/layers.0`, …"""
    home.mkdir(exist_ok=True)
    paths = [home / f"{when}.{number}.npz" for number in range(len(maps))]
    for path, each in zip(paths, maps, strict=True):
        arrays = {f"shares/{place}": shares.astype(np.float16) for place, shares in each.shares.items()}
        arrays |= {f"{name}/{place}": heads for name, by in each.scores.items() for place, heads in by.items()}
        with whole(path) as part, part.open("wb") as file:
            np.savez_compressed(file, tokens=np.array(each.tokens, dtype=np.str_), **arrays)  # pyright: ignore[reportArgumentType]
    return paths
