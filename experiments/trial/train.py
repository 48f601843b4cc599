"""Train one trial: one arm, one seed, one folder.

The folder comes with a `config.yaml`. Training adds `history.parquet` (every measured value), the weights, and
`summary.json`, which is written last: a trial is complete exactly when this file exists and its history reaches the
step that it names. What a killed attempt left behind moves to `attempts/N/`; the next attempt continues from
`checkpoint.pt`. Every file gets its name under the trial's lease, so that a process that has lost it changes nothing.
"""

import json
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import lightning as L
import torch
from lightning.fabric.plugins.environments.lightning import LightningEnvironment
from torch.utils.data import DataLoader

from analysis.record.config_file import read_config
from analysis.record.files import DamagedFile, write_text
from analysis.record.history import seal_history
from analysis.record.layout import BEST, CHECKPOINT, SUMMARY
from analysis.record.outcome import Outcome
from experiments.diagnostic import Diagnostic
from experiments.instruments.cost import peak_memory
from experiments.lifecycle.attempts import set_file_aside
from experiments.lifecycle.environment import versions
from experiments.lifecycle.lease import SoleWriter, WriteRight
from experiments.settings import plugins
from experiments.trial import build
from experiments.trial.batches import DrawnBatches, validation_batches
from experiments.trial.build import build_diagnostics, trial_measures
from experiments.trial.checkpoint import Checkpoint, keep_weights
from experiments.trial.checkpointer import Checkpointer
from experiments.trial.diagnostics import DiagnosticCallback
from experiments.trial.language_modeling import LanguageModeling
from experiments.trial.rank import SINGLE, FileRendezvousDDP, Rank
from experiments.trial.recorder import Recorder
from experiments.trial.timing import StepTimer

SOLE_WRITER = SoleWriter()
OWN_TRAINER_KEYS = ("threads", "compile", "devices")  # settings of the trainer that are not Lightning's


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
    task.on_start = on_start
    with ExitStack() as stack:
        home = folder if rank.number == 0 else Path(stack.enter_context(tempfile.TemporaryDirectory()))
        minutes, keep_gb = config["runtime"]["checkpoint_minutes"], config["runtime"]["keep_gb"]
        saver = Checkpointer(home, config["code"], 60 * minutes, keep_gb, stopping, right)
        task.after_step = saver if steps is None else StepTimer(home, steps)
        before = checkpoint.history.numpy().tobytes() if checkpoint else None
        measures = trial_measures(data, watchers, task.model)
        right.refuse_if_lost()
        recorder = Recorder(home, measures, before, attempt=right.attempt, replace=right.replacing)
        task.recorder = recorder
        stack.enter_context(recorder)
        fit(config, task, data, watchers)
    if rank.number == 0:
        right.refuse_if_lost()
        seal_history(folder, recorder.stream, right.replacing)
        keep_weights(folder, task.model, keep_gb, replace=right.replacing)
        if task.best[1] == task.step:
            (folder / BEST).unlink(missing_ok=True)
        spent = {"seconds": time.perf_counter() - started, "cpu_seconds": time.process_time() - busy}
        summary = json.dumps(trial_summary(config, task, data) | spent, indent=2, ensure_ascii=False)
        write_text(folder / SUMMARY, summary, right.replacing)
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


def build_task(config: build.Config, rank: Rank, checkpoint: Checkpoint | None) -> tuple[build.Data, LanguageModeling]:
    """The data, and the task with the weights that it begins with, or had when it stopped."""
    data = build.build_data(config)
    if config["content"] != data.content:
        raise RuntimeError("the data have changed since the trial was planned; the same command plans it anew")
    objective, optimizer, schedule = build.build_training(config)
    model, _ = build.build_model(config, data.vocabulary_size + objective.extra_tokens)
    if checkpoint is not None:
        model.load_state_dict(checkpoint.model)
    if config["trainer"]["compile"] != "none":
        model.compile(backend=config["trainer"]["compile"])
    interval = config["trainer"]["val_check_interval"]
    task = LanguageModeling(
        model, objective, optimizer, schedule, config["init_seed"], interval, data.solved_at, rank, checkpoint
    )
    task.vocabulary = data.vocabulary
    task.sequences = lambda length: validation_batches(
        build.build_data_at(config, length), objective, config["batch_size"]
    )
    return data, task


def fit(config: build.Config, task: LanguageModeling, data: build.Data, watchers: list[Diagnostic]) -> None:
    """The steps that are left, by Lightning with nothing on but the loop."""
    settings = {key: value for key, value in config["trainer"].items() if key not in OWN_TRAINER_KEYS}
    settings["max_steps"] -= task.first
    del settings["val_check_interval"]
    many = task.rank.world > 1
    strategy = FileRendezvousDDP(task.rank) if many else "auto"
    trainer = L.Trainer(
        **settings, devices=task.rank.world, strategy=strategy, callbacks=[DiagnosticCallback(task, watchers)],
        plugins=None if many else [LightningEnvironment()], use_distributed_sampler=False, limit_val_batches=0,
        logger=False, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False,
    )  # fmt: skip
    pieces = config["trainer"]["accumulate_grad_batches"]
    drawn = DrawnBatches(data, task.objective, config["batch_size"], pieces, config["data_seed"], task.first, task.rank)
    trainer.fit(task, DataLoader(drawn, batch_size=None))


def trial_summary(config: build.Config, task: LanguageModeling, data: build.Data) -> dict[str, Any]:
    """What became of the trial, and what it ran on."""
    diverged = task.recorder.diverged
    return {
        "status": "finished" if diverged is None else "diverged",
        "diverged_step": diverged,
        "steps": task.step if diverged is None else diverged,
        "best_step": task.best[1],
        "tokens": task.tokens,
        "parameters": sum(p.numel() for p in task.model.parameters()),
        "peak_memory_mb": peak_memory(task.device) / 1e6,
        "devices": task.rank.world,
        "beside": task.rank.others_on_device,
        "resumed_from": task.checkpoint.step if task.checkpoint else None,
        "seeds": {key: config[key] for key in ("seed", "init_seed", "data_seed")},
        "data": {"vocabulary": data.vocabulary_size, "floor": data.floor, "content": data.content},
        "code": config["code"],
        "git": config["git"],
        "versions": versions(),
    }
