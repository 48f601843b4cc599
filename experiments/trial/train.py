"""Train one trial: one arm, one seed, one folder.

The folder comes with a `config.yaml`. Training adds `history.parquet` (every measured value), the weights, and
`summary.json`, which is written last: a trial is complete exactly when this file exists and its history reaches the
step that it names. What a killed attempt left behind moves to `attempts/N/`; the next attempt continues from
`checkpoint.pt`. Every file gets its name under the trial's lease, so that a process that has lost it changes nothing.
"""

import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import torch

from analysis.record.config_file import read_config
from analysis.record.files import DamagedFile
from analysis.record.history import seal_history
from analysis.record.layout import BEST, CHECKPOINT
from analysis.record.outcome import Outcome
from analysis.record.summary import DataSummary, TrialSummary, write_summary
from experiments.instruments.cost import peak_memory
from experiments.lifecycle.attempts import set_file_aside
from experiments.lifecycle.environment import versions
from experiments.lifecycle.lease import SoleWriter, WriteRight
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

SOLE_WRITER = SoleWriter()


def train(
    folder: Path,
    rank: Rank = SINGLE,
    stopping: Callable[[], bool] = lambda: False,
    steps: int | None = None,
    on_start: Callable[[], None] = lambda: None,
    right: WriteRight = SOLE_WRITER,
) -> Outcome:
    """Train as the folder's configuration says, then seal the history and write the summary; the trial's outcome.

    `right` is the right to write the folder; by default nobody else is expected to write there.
    Raises Stopped when it is asked to stop, and after `steps` steps where only these are to be timed; LeaseLost, before
    anything lasting is written, once another command has taken the trial over; DamagedFile for the configuration.
    """
    config = read_config(folder)
    plugins.load_recorded_plugins(config["plugins"])
    torch.set_num_threads(config["trainer"]["threads"])
    started, busy = time.perf_counter(), time.process_time()
    checkpoint, note = usable_checkpoint(folder, config["code"], rank, right)
    watchers = build_diagnostics(config)
    data, task = build_task(config, rank, checkpoint)
    measures = trial_measures(data, task.objective, watchers, task.model)
    if checkpoint is not None and not same_code(checkpoint.history.numpy().tobytes(), measures):
        checkpoint = None  # no column begins by one formula and ends by another
        data, task = build_task(config, rank, None)
    task.on_start = on_start
    with ExitStack() as stack:
        home = folder if rank.number == 0 else Path(stack.enter_context(tempfile.TemporaryDirectory()))
        minutes, keep_gb = config["runtime"]["checkpoint_minutes"], config["runtime"]["keep_gb"]
        saver = Checkpointer(home, config["code"], 60 * minutes, keep_gb, stopping, right)
        task.after_step = saver if steps is None else StepTimer(home, steps)
        before = checkpoint.history.numpy().tobytes() if checkpoint else None
        right.refuse_if_lost()
        recorder = Recorder(home, measures, before, attempt=right.attempt, replace=right.replacing)
        task.recorder = stack.enter_context(recorder)
        fit(config, task, data, [DiagnosticCallback(task, watchers)])
    if rank.number == 0:
        right.refuse_if_lost()
        seal_history(folder, recorder.stream, right.replacing)
        keep_weights(folder, task.model, keep_gb, replace=right.replacing)
        if task.best[1] == task.step:
            (folder / BEST).unlink(missing_ok=True)
        seconds, cpu_seconds = time.perf_counter() - started, time.process_time() - busy
        write_summary(folder, trial_summary(config, task, data, seconds, cpu_seconds), right.replacing)
        (folder / CHECKPOINT).unlink(missing_ok=True)
    diverged = recorder.diverged
    return Outcome("finished", task.step, note=note) if diverged is None else Outcome("diverged", diverged, note=note)


def usable_checkpoint(folder: Path, code: str, rank: Rank, right: WriteRight) -> tuple[Checkpoint | None, str]:
    """The checkpoint to go on from, and a note where there is one that cannot be read: it is set aside."""
    try:
        return Checkpoint.read(folder, code), ""
    except DamagedFile as damage:
        note = f"{damage}; it was set aside, and the trial started anew"
        print(note, file=sys.stderr)
        if rank.number == 0:
            right.refuse_if_lost()
            set_file_aside(damage.path)
        return None, note


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
