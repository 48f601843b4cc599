"""How often is a configuration called different from itself? python benchmarks/null.py [SEEDS]

Trains one configuration under many seeds, then makes A/A studies of them: groups of seeds that have none in common,
paired at random, through the same effects as any study. At a level of 5 % one in twenty may be called different.
"""

import subprocess
import sys
import tempfile

import numpy as np
import pandas as pd

from analysis import load
from analysis.effect import paired

SIZE = (
    "trainer.max_steps=100",
    "schedule.warmup=10",
    "model.width=32",
    "model.context=32",
    "data.validation_tokens=4096",
)
ENDPOINTS = "study.endpoints={val/loss: final, gradient_norm/total: median}"
PAIRS = (6, 10, 20)
DRAWN = 2000  # A/A studies


def measured(seeds: int) -> dict[str, pd.Series]:
    """What each seed came to, by endpoint."""
    with tempfile.TemporaryDirectory() as folder:
        words = ("run", f"seed=range({seeds})", "study.name=alike", ENDPOINTS, "runtime.tracking_uri=none", *SIZE)
        subprocess.run((sys.executable, "-m", "experiments.cli", *words), cwd=folder, check=True)
        results = load(f"{folder}/results", study="alike")
        return {name: table[results.arms[0]] for name, table in results.endpoints.items()}


def called_different(values: np.ndarray, pairs: int, random: np.random.Generator) -> float:
    """The share of A/A studies with so many pairs whose p is below 0.05."""
    drawn = (random.permutation(values)[: 2 * pairs].reshape(2, pairs) for _ in range(DRAWN))
    return float(np.mean([paired(pd.Series(a), pd.Series(b))["p"] < 0.05 for a, b in drawn]))


def main(seeds: int) -> None:
    """A line an endpoint and a size. Raises SystemExit for fewer seeds than the largest study takes."""
    if seeds < 2 * max(PAIRS):
        raise SystemExit(f"{seeds} seeds make no two groups of {max(PAIRS)}: at least {2 * max(PAIRS)}")
    for name, values in measured(seeds).items():
        for pairs in PAIRS:
            share = called_different(values.to_numpy(), pairs, np.random.default_rng(pairs))
            print(f"{name}, n = {pairs}: {100 * share:.1f} % of {DRAWN} A/A studies are called different")


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else 100)
