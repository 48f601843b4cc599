"""Attention maps as arrays: `attention/<step>.<number>.npz` in a trial's folder."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from analysis.record.files import Replacing, reading, replacing
from analysis.record.layout import ATTENTION

SCORES = ("previous_token", "induction")
ARRAYS = ("shares", *SCORES)


@dataclass(frozen=True)
class AttentionMaps:
    """A sentence's symbols; by layer, every head's shares (head, query, key); each score by layer, one a head."""

    tokens: Sequence[str]
    shares: Mapping[str, np.ndarray]
    scores: Mapping[str, Mapping[str, np.ndarray]]

    def best(self, score: str) -> tuple[str, int, float]:
        """Layer, head and value of the head with the highest score."""
        heads = [(place, head, float(v)) for place, each in self.scores[score].items() for head, v in enumerate(each)]
        return max(heads, key=lambda found: found[2])


def write_attention_maps(
    home: Path, when: str, maps: Sequence[AttentionMaps], replace: Replacing = replacing
) -> list[Path]:
    """One file a sentence, each whole or not there: arrays `tokens`, `shares/layers.0`, `previous_token/layers.0`, …"""
    home.mkdir(exist_ok=True)
    paths = [home / f"{when}.{number}.npz" for number in range(len(maps))]
    for path, each in zip(paths, maps, strict=True):
        arrays = {f"shares/{place}": shares.astype(np.float16) for place, shares in each.shares.items()}
        arrays |= {f"{name}/{place}": heads for name, by in each.scores.items() for place, heads in by.items()}
        with replace(path) as part, part.open("wb") as file:
            np.savez_compressed(file, tokens=np.array(each.tokens, dtype=np.str_), **arrays)  # pyright: ignore[reportArgumentType]
    return paths


def read_maps(path: Path) -> AttentionMaps:
    """The arrays of a file `attention/<step>.<number>.npz`. Raises DamagedFile where it cannot be read."""
    with reading(path), np.load(path) as arrays:
        by = {kind: {n.partition("/")[2]: arrays[n] for n in arrays if n.startswith(f"{kind}/")} for kind in ARRAYS}
        return AttentionMaps(list(arrays["tokens"]), by["shares"], {score: by[score] for score in SCORES})


def maps_by_step(folder: Path) -> list[tuple[int, Path]]:
    """The maps that training has left in a trial's folder, the earliest first."""
    found = [(int(path.name.partition(".")[0]), path) for path in (folder / ATTENTION).glob("[0-9]*.npz")]
    return sorted(found)
