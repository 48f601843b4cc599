"""One trial: one arm, one seed, one folder, and a process for each of its devices.

The folder comes with a `config.yaml`. A trial adds `history.parquet` (every measured value),
`trial.log` and, last and whole, `summary.json`: where it stands, the trial is complete. What a
killed attempt left behind moves to `attempts/N/`; a `checkpoint.pt` is where the next one goes on.
"""

import json
import os
import sys
import tempfile
import time
import traceback
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

from experiments import build, plugins, provenance
from experiments.batches import Drawn, validation
from experiments.checkpoint import BEST, Checkpoint, Saver, Timer, keep
from experiments.diagnostic import Diagnostic
from experiments.ending import Asked, reason, status
from experiments.folder import CHECKPOINT, CONFIG, LOG, SUMMARY, finished, whole
from experiments.memory import peak
from experiments.rank import SINGLE, Rank
from experiments.recorder import Recorder, seal
from experiments.task import LanguageModeling
from experiments.watch import Watch

OURS = ("threads", "compile", "devices")  # settings of the trainer that are not Lightning's


def main(folder: Path, rank: Rank = SINGLE, code: str | None = None, steps: int | None = None) -> None:
    """Run the trial of a folder, or only its first steps, as a process: all it prints goes to its log, errors too.

    Exits with ENOMEM or ENOSPC if memory or disk did not suffice, with `STOPPED` if it was asked to stop, and
    with 1 if it failed in another way.
    """
    if finished(folder) is not None:
        return
    with (folder / (LOG if rank.number == 0 else f"rank{rank.number}.log")).open("w", buffering=1) as log:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
        try:
            refuse_other_code(folder, code)
            asked = Asked()
            asked.listen()
            train(folder, rank, asked, steps)
        except BaseException as error:
            traceback.print_exc()
            print(reason(folder, error), file=sys.stderr)
            os._exit(status(error))  # whatever the other ranks wait for


def refuse_other_code(folder: Path, code: str | None) -> None:
    """Raises RuntimeError if another command has planned this trial since, with code that is not loaded here."""
    planned = yaml.safe_load((folder / CONFIG).read_text(encoding="utf-8"))["code"]
    if code is not None and planned != code:
        raise RuntimeError("its code has changed since this command began, and another command has planned it anew")


def train(
    folder: Path, rank: Rank = SINGLE, stopping: Callable[[], bool] = lambda: False, steps: int | None = None
) -> None:
    """Train as the folder's configuration says, then seal the history and write the summary.

    Raises Stopped when it is asked to stop, and after `steps` steps where only these are to be timed.
    """
    config = yaml.safe_load((folder / CONFIG).read_text(encoding="utf-8"))
    plugins.load_again(config["plugins"])
    torch.set_num_threads(config["trainer"]["threads"])
    started, busy = time.perf_counter(), time.process_time()
    begun, watchers = Checkpoint.read(folder, config["code"]), build.watchers(config)
    data, task = prepared(config, rank, begun)
    if isinstance(stopping, Asked):
        task.listen = stopping.listen
    with ExitStack() as stack:
        home = folder if rank.number == 0 else Path(stack.enter_context(tempfile.TemporaryDirectory()))
        minutes, keep_gb = config["runtime"]["checkpoint_minutes"], config["runtime"]["keep_gb"]
        saver = Saver(home, config["code"], 60 * minutes, keep_gb, stopping)
        task.save = saver if steps is None else Timer(home, steps)
        before = begun.history.numpy().tobytes() if begun else None
        measures = build.measures(data, watchers, task.model)
        task.recorder = stack.enter_context(Recorder(home, measures, before))
        fit(config, task, data, watchers)
    if rank.number == 0:
        seal(folder)
        keep(folder, task.model, keep_gb)
        if task.best[1] == task.step:
            (folder / BEST).unlink(missing_ok=True)
        spent = {"seconds": time.perf_counter() - started, "cpu_seconds": time.process_time() - busy}
        said = json.dumps(summary(config, task, data) | spent, indent=2, ensure_ascii=False)
        with whole(folder / SUMMARY) as part:
            part.write_text(said, encoding="utf-8")
        (folder / CHECKPOINT).unlink(missing_ok=True)


def prepared(config: build.Config, rank: Rank, begun: Checkpoint | None) -> tuple[build.Data, LanguageModeling]:
    """The data, and the task with the weights that it begins with, or had when it stopped."""
    data = build.data(config)
    if config["content"] != data.content:
        raise RuntimeError("the data have changed since the trial was planned; the same command plans it anew")
    objective, optimizer, schedule = build.training(config)
    model, _ = build.model(config, data.vocabulary + objective.extra_tokens)
    if begun is not None:
        model.load_state_dict(begun.model)
    if config["trainer"]["compile"] != "none":
        model.compile(backend=config["trainer"]["compile"])
    interval = config["trainer"]["val_check_interval"]
    task = LanguageModeling(
        model, objective, optimizer, schedule, config["init_seed"], interval, data.solved_at, rank, begun
    )
    task.alphabet = data.alphabet
    task.sequences = lambda length: validation(build.data_at(config, length), objective, config["batch_size"])
    return data, task


def fit(config: build.Config, task: LanguageModeling, data: build.Data, watchers: list[Diagnostic]) -> None:
    """The steps that are left, by Lightning with nothing on but the loop."""
    given = {key: value for key, value in config["trainer"].items() if key not in OURS}
    given["max_steps"] -= task.first
    del given["val_check_interval"]
    many: Any = task.rank.world > 1
    strategy = DDPStrategy(cluster_environment=LightningEnvironment()) if many else "auto"
    trainer = L.Trainer(
        **given, devices=task.rank.world, strategy=strategy, callbacks=[Watch(task, watchers)], logger=False,
        plugins=None if many else [LightningEnvironment()], use_distributed_sampler=False, limit_val_batches=0,
        enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False,
    )  # fmt: skip
    pieces = config["trainer"]["accumulate_grad_batches"]
    drawn = Drawn(data, task.objective, config["batch_size"], pieces, config["data_seed"], task.first, task.rank)
    trainer.fit(task, DataLoader(drawn, batch_size=None))


def summary(config: build.Config, task: LanguageModeling, data: build.Data) -> dict[str, Any]:
    """What became of the trial, and what it ran on."""
    diverged = task.recorder.diverged
    return {
        "status": "finished" if diverged is None else "diverged",
        "diverged_step": diverged,
        "steps": task.step if diverged is None else diverged,
        "best_step": task.best[1],
        "tokens": task.tokens,
        "parameters": sum(p.numel() for p in task.model.parameters()),
        "peak_memory_mb": peak(task.device) / 1e6,
        "devices": task.rank.world,
        "beside": task.rank.beside,
        "resumed_from": task.begun.step if task.begun else None,
        "seeds": {key: config[key] for key in ("seed", "init_seed", "data_seed")},
        "data": {"vocabulary": data.vocabulary, "floor": data.floor, "content": data.content},
        "code": config["code"],
        "git": config["git"],
        "versions": provenance.versions(),
    }
