"""What the default diagnostics cost: CPU time of a step with them over that of the same trial without any.

python benchmarks/diagnostics.py [LINEUP …]   other sets than the default one, such as attention,stream or none
"""

import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import hydra
import torch
import yaml

from experiments import trial
from experiments.identity import understood
from experiments.options import offer
from experiments.register import register
from experiments.run import CONF

SHORT, LONG, ROUNDS = 50, 450, 7


def configuration(steps: int, *words: str) -> dict[str, Any]:
    """The baseline for so many steps, validated at its ends only."""
    numbers = [f"trainer.max_steps={steps}", f"trainer.val_check_interval={steps}", "data.validation_tokens=64"]
    with hydra.initialize_config_dir(str(CONF), version_base="1.3"):
        arm = understood(hydra.compose("config", [*numbers, "schedule.warmup=10", *words]))
    return arm.trial(0)[1] | {"label": "benchmark", "git": "", "plugins": {}}


def seconds(config: dict[str, Any]) -> float:
    """CPU seconds of a whole trial."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "config.yaml").write_text(yaml.safe_dump(config))
        start = time.process_time()
        trial.train(Path(folder))
        return time.process_time() - start


def main(chosen: list[str]) -> None:
    """Print the medians; a step's cost is what a longer run takes more, so that starting up does not count."""
    torch.set_num_threads(1)
    offer()
    register()
    sets = {"default": ()} | {names: (f"diagnostic=[{names.replace('none', '')}]",) for names in chosen}
    configs = {name: (configuration(SHORT, *words), configuration(LONG, *words)) for name, words in sets.items()}
    bare = configuration(SHORT, "diagnostic=[]"), configuration(LONG, "diagnostic=[]")
    seconds(bare[0])  # warm
    ratios: dict[str, list[float]] = {name: [] for name in configs}
    steps: list[float] = []
    for _ in range(ROUNDS):
        without = seconds(bare[1]) - seconds(bare[0])
        steps.append(1000 * without / (LONG - SHORT))
        for name, (short, long) in configs.items():
            ratios[name].append((seconds(long) - seconds(short)) / without)
    print(f"a step without diagnostics: {statistics.median(steps):.2f} ms of CPU")
    for name, found in ratios.items():
        print(f"{name}: {statistics.median(found):.3f} times that (from {min(found):.3f} to {max(found):.3f})")


if __name__ == "__main__":
    main(sys.argv[1:])
