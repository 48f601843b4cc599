"""Train one trial: one arm, one seed, one folder.

The folder comes with a `config.yaml`. Training adds `history.parquet` (every measured value) and `summary.json`,
which is written last: a trial is complete exactly when this file exists. What a killed attempt left behind moves to
`attempts/N/`; the next attempt continues from `checkpoint.pt`.
"""

import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import torch

from analysis.record.history import seal_history
from analysis.record.layout import BEST, CHECKPOINT, CONFIG
from analysis.record.plain import read_yaml
from analysis.record.summary import DataSummary, TrialSummary, write_summary
from experiments.instruments.cost import peak_memory
from experiments.lifecycle.environment import versions
from experiments.settings import plugins
from experiments.trial import build
from experiments.trial.checkpoint import Checkpoint, keep_weights
from experiments.trial.checkpointer import Checkpointer
from experiments.trial.diagnostics import DiagnosticCallback
from experiments.trial.fit import build_task, fit
from experiments.trial.language_modeling import LanguageModeling
from experiments.trial.meaning import trial_meaning
from experiments.trial.measures import build_diagnostics, trial_measures
from experiments.trial.rank import SINGLE, Rank
from experiments.trial.recorder import Recorder, same_code
from experiments.trial.timing import StepTimer


def train(
    folder: Path,
    rank: Rank = SINGLE,
    stopping: Callable[[], bool] = lambda: False,
    steps: int | None = None,
    on_start: Callable[[], None] = lambda: None,
) -> None:
    """Train as the folder's configuration says, then seal the history and write the summary.

    Raises Stopped when it is asked to stop, and after `steps` steps where only these are to be timed.
    """
    config = read_yaml(folder / CONFIG)
    plugins.load_recorded_plugins(config["plugins"])
    torch.set_num_threads(config["trainer"]["threads"])
    started, busy = time.perf_counter(), time.process_time()
    begun, watchers = Checkpoint.read(folder, config["code"]), build_diagnostics(config)
    data, task = build_task(config, rank, begun)
    measures = trial_measures(data, task.objective, watchers, task.model)
    if begun is not None and not same_code(begun.history.numpy().tobytes(), measures):
        begun = None  # no column begins by one formula and ends by another
        data, task = build_task(config, rank, None)
    task.on_start = on_start
    with ExitStack() as stack:
        home = folder if rank.number == 0 else Path(stack.enter_context(tempfile.TemporaryDirectory()))
        minutes, keep_gb = config["runtime"]["checkpoint_minutes"], config["runtime"]["keep_gb"]
        saver = Checkpointer(home, config["code"], 60 * minutes, keep_gb, stopping)
        task.after_step = saver if steps is None else StepTimer(home, steps)
        before = begun.history.numpy().tobytes() if begun else None
        task.recorder = stack.enter_context(Recorder(home, measures, before))
        fit(config, task, data, [DiagnosticCallback(task, watchers)])
    if rank.number == 0:
        seal_history(folder)
        keep_weights(folder, task.model, keep_gb)
        if task.best[1] == task.step:
            (folder / BEST).unlink(missing_ok=True)
        seconds, cpu_seconds = time.perf_counter() - started, time.process_time() - busy
        write_summary(folder, trial_summary(config, task, data, seconds, cpu_seconds))
        (folder / CHECKPOINT).unlink(missing_ok=True)


def trial_summary(
    config: build.Config, task: LanguageModeling, data: build.Data, seconds: float, cpu_seconds: float
) -> TrialSummary:
    """What became of the trial, what it took, and what it ran on."""
    diverged = task.recorder.diverged
    return TrialSummary(
        status="finished" if diverged is None else "diverged",
        diverged_step=diverged,
        steps=task.step if diverged is None else diverged,
        best_step=task.best[1],
        tokens=task.tokens,
        parameters=sum(p.numel() for p in task.model.parameters()),
        peak_memory_mb=peak_memory(task.device) / 1e6,
        devices=task.rank.world,
        others_on_device=task.rank.others_on_device,
        resumed_from=task.checkpoint.step if task.checkpoint else None,
        seeds={key: config[key] for key in ("seed", "init_seed", "data_seed")},
        data=DataSummary(data.vocabulary_size, data.floor, data.content),
        meaning=trial_meaning(config["data"], data, task.objective),
        code=config["code"],
        git=config["git"],
        versions=versions(),
        seconds=seconds,
        cpu_seconds=cpu_seconds,
    )
