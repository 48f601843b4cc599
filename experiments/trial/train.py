"""Train one trial: one arm, one seed, one folder.

The folder comes with a `config.yaml`. Training adds `history.parquet` (every measured value) and `summary.json`,
which is written last: a trial is complete exactly when this file exists. What a killed attempt left behind moves to
`attempts/N/`; the next attempt continues from `checkpoint.pt`.
"""

import json
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import lightning as L
import torch
import yaml
from lightning.fabric.plugins.environments.lightning import LightningEnvironment
from lightning.pytorch.strategies import DDPStrategy
from torch.utils.data import DataLoader

from analysis.record.files import replacing
from analysis.record.history import seal_history
from analysis.record.layout import BEST, CHECKPOINT, CONFIG, SUMMARY
from experiments.diagnostic import Diagnostic
from experiments.instruments.cost import peak_memory
from experiments.lifecycle.environment import versions
from experiments.settings import plugins
from experiments.trial import build
from experiments.trial.batches import DrawnBatches, validation_batches
from experiments.trial.build import build_diagnostics, trial_measures
from experiments.trial.checkpoint import Checkpoint, keep_weights
from experiments.trial.checkpointer import Checkpointer
from experiments.trial.diagnostics import DiagnosticCallback
from experiments.trial.language_modeling import LanguageModeling
from experiments.trial.meaning import scored_bytes, trial_meaning
from experiments.trial.rank import SINGLE, Rank
from experiments.trial.recorder import Recorder
from experiments.trial.timing import StepTimer

OWN_TRAINER_KEYS = ("threads", "compile", "devices")  # settings of the trainer that are not Lightning's


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
    config = yaml.safe_load((folder / CONFIG).read_text(encoding="utf-8"))
    plugins.load_recorded_plugins(config["plugins"])
    torch.set_num_threads(config["trainer"]["threads"])
    started, busy = time.perf_counter(), time.process_time()
    begun, watchers = Checkpoint.read(folder, config["code"]), build_diagnostics(config)
    data, task = build_task(config, rank, begun)
    task.on_start = on_start
    with ExitStack() as stack:
        home = folder if rank.number == 0 else Path(stack.enter_context(tempfile.TemporaryDirectory()))
        minutes, keep_gb = config["runtime"]["checkpoint_minutes"], config["runtime"]["keep_gb"]
        saver = Checkpointer(home, config["code"], 60 * minutes, keep_gb, stopping)
        task.after_step = saver if steps is None else StepTimer(home, steps)
        before = begun.history.numpy().tobytes() if begun else None
        measures = trial_measures(data, task.objective, watchers, task.model)
        task.recorder = stack.enter_context(Recorder(home, measures, before))
        fit(config, task, data, watchers)
    if rank.number == 0:
        seal_history(folder)
        keep_weights(folder, task.model, keep_gb)
        if task.best[1] == task.step:
            (folder / BEST).unlink(missing_ok=True)
        spent = {"seconds": time.perf_counter() - started, "cpu_seconds": time.process_time() - busy}
        said = json.dumps(trial_summary(config, task, data) | spent, indent=2, ensure_ascii=False)
        with replacing(folder / SUMMARY) as part:
            part.write_text(said, encoding="utf-8")
        (folder / CHECKPOINT).unlink(missing_ok=True)


def build_task(config: build.Config, rank: Rank, begun: Checkpoint | None) -> tuple[build.Data, LanguageModeling]:
    """The data, and the task with the weights that it begins with, or had when it stopped."""
    data = build.build_data(config)
    if config["content"] != data.content:
        raise RuntimeError("the data have changed since the trial was planned; the same command plans it anew")
    objective, optimizer, schedule = build.build_training(config)
    model, _ = build.build_model(config, data.vocabulary_size + objective.extra_tokens)
    if begun is not None:
        model.load_state_dict(begun.model)
    if config["trainer"]["compile"] != "none":
        model.compile(backend=config["trainer"]["compile"])
    interval = config["trainer"]["val_check_interval"]
    task = LanguageModeling(
        model, objective, optimizer, schedule, config["init_seed"], interval, data.solved_at, rank, begun
    )
    task.vocabulary = data.vocabulary
    task.scored_bytes = scored_bytes(data, objective)
    task.sequences = lambda length: validation_batches(
        build.build_data_at(config, length), objective, config["batch_size"]
    )
    return data, task


def fit(config: build.Config, task: LanguageModeling, data: build.Data, watchers: list[Diagnostic]) -> None:
    """The steps that are left, by Lightning with nothing on but the loop."""
    given = {key: value for key, value in config["trainer"].items() if key not in OWN_TRAINER_KEYS}
    given["max_steps"] -= task.first
    del given["val_check_interval"]
    many: Any = task.rank.world > 1
    strategy = DDPStrategy(cluster_environment=LightningEnvironment()) if many else "auto"
    trainer = L.Trainer(
        **given, devices=task.rank.world, strategy=strategy, callbacks=[DiagnosticCallback(task, watchers)],
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
        "meaning": trial_meaning(config["data"], data, task.objective),
        "code": config["code"],
        "git": config["git"],
        "versions": versions(),
    }
