"""What diagnostics cost: CPU time of a step of a trial with them over that of the same trial without any.

python benchmarks/diagnostics.py [attention attention,stream …]   the default set, and these; `none` shows the noise
"""

import statistics
import sys

import torch
from step import LONG, SHORT, configuration, ours

from experiments.options import offer
from experiments.register import register

ROUNDS = 9


def step(*words: str) -> float:
    """CPU seconds of a step: what a longer trial takes more than a short one, so that starting up does not count."""
    return (ours(configuration(LONG, *words)) - ours(configuration(SHORT, *words))) / (LONG - SHORT)


def main(chosen: list[str]) -> None:
    """Print the medians of ratios, each set measured next to no diagnostics."""
    torch.set_num_threads(1)
    offer()
    register()
    sets = {"default": ()} | {names: (f"diagnostic=[{names.replace('none', '')}]",) for names in chosen}
    step("diagnostic=[]")  # warm
    for name, words in sets.items():
        ratios = [step(*words) / step("diagnostic=[]") for _ in range(ROUNDS)]
        print(f"{name}: {statistics.median(ratios):.3f} times (from {min(ratios):.3f} to {max(ratios):.3f})")


if __name__ == "__main__":
    main(sys.argv[1:])
