"""A trial that has been trained, ready to be asked."""

from pathlib import Path

import torch

from analysis.record.config_file import read_config
from analysis.record.layout import CONFIG, TRIALS, WEIGHTS, results_around, trial_folder
from analysis.record.summary import read_summary, trial_damage
from components.registry import unknown
from experiments.data import Data
from experiments.settings import plugins
from experiments.trial.build import Config
from experiments.trial.checkpoint import read_weights
from experiments.trial.fit import build_task
from experiments.trial.language_modeling import LanguageModeling
from experiments.trial.rank import SINGLE


def find_trial(results: Path, trial: str) -> Path:
    """The folder of a trial, by its path, its id or the beginning of it. Raises FileNotFoundError if it is not one."""
    if (Path(trial) / CONFIG).exists():
        return Path(trial)
    ids = sorted(path.parent.name for path in (results / TRIALS).glob(f"*/{CONFIG}"))
    fitting = [id for id in ids if id.startswith(trial)]
    if len(fitting) != 1:
        reason = f"{trial!r} begins {len(fitting)} trials" if fitting else unknown("trial", trial, ids)
        raise FileNotFoundError(f"{results}: {reason}")
    return trial_folder(results, fitting[0])


def reopen_trial(folder: Path) -> tuple[Config, Data, LanguageModeling]:
    """The configuration, the data, and the task with the weights that training ended with.

    Raises FileNotFoundError if the trial is not finished, or its weights were not kept; ValueError if its data or
    plugins are not what they were, or a plugin lies inside the results folder.
    """
    if damage := trial_damage(folder):
        raise ValueError(damage)
    if read_summary(folder) is None:
        raise FileNotFoundError(f"trial {folder.name} is not finished, so it has no weights yet")
    if not (folder / WEIGHTS).exists():
        raise FileNotFoundError(
            f"the weights of trial {folder.name} were not kept: raise runtime.keep_gb, move its folder away, and run "
            "the study again"
        )
    config = read_config(folder)
    torch.set_num_threads(config["trainer"]["threads"])
    plugins.refuse_plugins_inside(results_around(folder.resolve()), config["plugins"])
    try:
        plugins.load_recorded_plugins(config["plugins"])
        data, task = build_task(config, SINGLE, None)
        task.model.load_state_dict(read_weights(folder / WEIGHTS))
    except RuntimeError as error:
        raise ValueError(
            f"trial {folder.name} cannot be asked any more, what it was made of has changed: {error}"
        ) from error
    task.eval()
    return config, data, task
