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
    """The attention of all heads to one sentence.

    `tokens` is the sentence; `shares[layer]` the attention weights (head, query, key); `scores[score][layer]` one
    value per head.
    """

    tokens: Sequence[str]
    shares: Mapping[str, np.ndarray]
    scores: Mapping[str, Mapping[str, np.ndarray]]

    def best(self, score: str) -> tuple[str, int, float]:
        """Layer, head and value of the head with the highest score."""
        heads = [
            (layer, head, float(value))
            for layer, values in self.scores[score].items()
            for head, value in enumerate(values)
        ]
        return max(heads, key=lambda entry: entry[2])


def write_attention_maps(
    home: Path, when: str, maps: Sequence[AttentionMaps], replace: Replacing = replacing
) -> list[Path]:
    """One complete file per sentence, with arrays `tokens`, `shares/layers.0`, `previous_token/layers.0`, …"""
    home.mkdir(exist_ok=True)
    paths = [home / f"{when}.{number}.npz" for number in range(len(maps))]
    for path, sentence in zip(paths, maps, strict=True):
        arrays = {f"shares/{layer}": shares.astype(np.float16) for layer, shares in sentence.shares.items()}
        for score, by_layer in sentence.scores.items():
            arrays |= {f"{score}/{layer}": values for layer, values in by_layer.items()}
        with replace(path) as part, part.open("wb") as file:
            np.savez_compressed(file, tokens=np.array(sentence.tokens, dtype=np.str_), **arrays)  # pyright: ignore[reportArgumentType]
    return paths


def read_maps(path: Path) -> AttentionMaps:
    """The arrays of a file `attention/<step>.<number>.npz`. Raises DamagedFile where it cannot be read."""
    with reading(path), path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
        by_kind = {
            kind: {name.partition("/")[2]: arrays[name] for name in arrays if name.startswith(f"{kind}/")}
            for kind in ARRAYS
        }
        return AttentionMaps(list(arrays["tokens"]), by_kind["shares"], {score: by_kind[score] for score in SCORES})


def maps_by_step(folder: Path) -> list[tuple[int, Path]]:
    """The step and the path of each map that training wrote into a trial's folder, the earliest first."""
    return sorted((int(path.name.partition(".")[0]), path) for path in (folder / ATTENTION).glob("[0-9]*.npz"))
