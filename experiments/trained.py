"""A trial that has been trained, ready to be asked."""

import sys
from pathlib import Path
from typing import Any

import torch
import yaml

from components.registry import unknown
from experiments import plugins
from experiments.checkpoint import WEIGHTS
from experiments.data import Data
from experiments.folder import CONFIG, finished
from experiments.identity import examined
from experiments.rank import SINGLE
from experiments.task import LanguageModeling
from experiments.trial import prepared


def found(results: Path, trial: str) -> Path:
    """The folder of a trial, by its path, its id or the beginning of it. Raises FileNotFoundError if it is not one."""
    if (Path(trial) / CONFIG).exists():
        return Path(trial)
    ids = sorted(path.parent.name for path in results.glob(f"trials/*/{CONFIG}"))
    fitting = [id for id in ids if id.startswith(trial)]
    if len(fitting) != 1:
        said = f"{trial!r} begins {len(fitting)} trials" if fitting else unknown("trial", trial, ids)
        raise FileNotFoundError(f"{results}: {said}")
    return results / "trials" / fitting[0]


def opened(folder: Path) -> tuple[dict[str, Any], Data, LanguageModeling]:
    """The configuration, the data, and the task with the weights that training ended with.

    Raises FileNotFoundError if the trial is not finished, or its weights were not kept; ValueError if its data or
    plugins are not what they were. Code that has changed is said.
    """
    if finished(folder) is None:
        raise FileNotFoundError(f"trial {folder.name} is not finished, so it has no weights yet")
    if not (folder / WEIGHTS).exists():
        raise FileNotFoundError(
            f"the weights of trial {folder.name} were not kept: raise runtime.keep_gb, move its folder away, and run "
            "the study again"
        )
    config = yaml.safe_load((folder / CONFIG).read_text(encoding="utf-8"))
    torch.set_num_threads(config["trainer"]["threads"])
    try:
        plugins.load_again(config["plugins"])
        data, task = prepared(config, SINGLE, None)
        task.model.load_state_dict(torch.load(folder / WEIGHTS, weights_only=True, map_location="cpu"))
    except RuntimeError as error:
        raise ValueError(
            f"trial {folder.name} cannot be asked any more, what it was made of has changed: {error}"
        ) from error
    if examined(config, data).code != config["code"]:
        print(f"warning: the code of trial {folder.name} has changed since it was trained", file=sys.stderr)
    task.eval()
    return config, data, task
