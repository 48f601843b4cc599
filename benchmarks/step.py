"""What a step of a trial costs over a bare PyTorch loop of the same model and batches: python benchmarks/step.py

Prints CPU time per step of both, measured in turns in one run, and the median of their ratios.
"""

import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import hydra
import torch
import yaml
from torch.nn.functional import cross_entropy

from experiments import build, trial
from experiments.identity import understood
from experiments.options import offer
from experiments.register import register
from experiments.run import CONF

SHORT, LONG, ROUNDS = 50, 350, 5


def configuration(steps: int, *words: str) -> dict[str, Any]:
    """The baseline with these settings, for so many steps, validated at its ends only."""
    numbers = [f"trainer.max_steps={steps}", f"trainer.val_check_interval={steps}", "data.validation_tokens=64"]
    with hydra.initialize_config_dir(str(CONF), version_base="1.3"):
        arm = understood(hydra.compose("config", [*numbers, "schedule.warmup=10", *words]))
    return arm.trial(0)[1] | {"label": "benchmark", "git": "", "plugins": {}}


def ours(config: dict[str, Any]) -> float:
    """CPU seconds of a whole trial: default diagnostics, recorder, Lightning."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "config.yaml").write_text(yaml.safe_dump(config))
        start = time.process_time()
        trial.train(Path(folder))
        return time.process_time() - start


def bare(config: dict[str, Any]) -> float:
    """CPU seconds of the same in a loop."""
    start = time.process_time()
    data = build.data(config)
    model, _ = build.model(config, data.vocabulary)
    _, make_optimizer, make_schedule = build.training(config)
    optimizer = make_optimizer(model)
    schedule = make_schedule(optimizer)
    for step in range(config["trainer"]["max_steps"]):
        batch = data.train(config["batch_size"], 0, step)
        optimizer.zero_grad()
        cross_entropy(model(batch.inputs).flatten(0, 1), batch.targets.flatten()).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
    return time.process_time() - start


def main() -> None:
    """Print the medians; a step's cost is what a longer run takes more, so that starting up does not count."""
    torch.set_num_threads(1)
    offer()
    register()
    short, long = configuration(SHORT), configuration(LONG)
    ours(short), bare(short)  # warm
    pairs = [(ours(long) - ours(short), bare(long) - bare(short)) for _ in range(ROUNDS)]
    for name, times in (("trial", [a for a, _ in pairs]), ("bare loop", [b for _, b in pairs])):
        print(f"{name}: {1000 * statistics.median(times) / (LONG - SHORT):.2f} ms of CPU a step")
    print(f"ratio: {statistics.median(a / b for a, b in pairs):.3f}")


if __name__ == "__main__":
    main()
