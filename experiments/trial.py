"""One trial: one arm, one seed, one process, one folder.

The folder comes with a `config.yaml`. A trial adds `history.parquet` (every measured value),
`trial.log` and, last and whole, `summary.json`: where it stands, the trial is complete. What a
killed attempt left behind moves to `attempts/N/`.
"""

import json
import os
import resource
import sys
import time
import traceback
from pathlib import Path
from typing import Any

import lightning as L
import torch
import yaml
from torch.utils.data import DataLoader

from experiments import build, plugins, provenance
from experiments.diagnostic import Diagnostic
from experiments.folder import CONFIG, LOG, SUMMARY, finished, write
from experiments.recorder import STREAM, TABLE, Recorder, seal
from experiments.task import Drawn, LanguageModeling, Watch, validation


def main(folder: Path) -> None:
    """Run the trial of a folder as a process of its own: everything it prints goes to its log, errors too.

    Exits with 1 if it failed.
    """
    if finished(folder) is not None:
        return
    set_aside(folder)
    with (folder / LOG).open("w", buffering=1, encoding="utf-8") as log:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
        try:
            train(folder)
        except BaseException:
            traceback.print_exc()
            sys.exit(1)


def train(folder: Path) -> None:
    """Train as the folder's configuration says, then seal the history and write the summary."""
    config = yaml.safe_load((folder / CONFIG).read_text(encoding="utf-8"))
    plugins.load(config["plugins"])
    torch.set_num_threads(config["trainer"]["threads"])
    started, busy = time.perf_counter(), time.process_time()
    data = build.data(config)
    objective, optimizer, schedule = build.training(config)
    model, _ = build.model(config, data.vocabulary + objective.extra_tokens)
    if config["trainer"]["compile"] != "none":
        model.compile(backend=config["trainer"]["compile"])
    task = LanguageModeling(model, objective, optimizer, schedule, config["init_seed"], data.solved_at)
    watchers = build.watchers(config)
    pieces, size = config["trainer"]["accumulate_grad_batches"], config["batch_size"]
    task.sequences = lambda length: validation(build.data_at(config, length), objective, size)
    batches: Any = task.sequences(config["model"]["context"])
    drawn = Drawn(data, objective, size, pieces, config["data_seed"])
    with Recorder(folder, build.measures(data, watchers, model)) as task.recorder:
        task.recorder.at(0, 0)
        trainer(config, watchers).fit(task, DataLoader(drawn, batch_size=None), DataLoader(batches, batch_size=None))
    seal(folder)
    summary = {
        "status": "finished" if task.recorder.diverged is None else "diverged",
        "diverged_step": task.recorder.diverged,
        "steps": task.global_step,
        "tokens": task.tokens,
        "parameters": sum(p.numel() for p in task.model.parameters()),
        "seconds": time.perf_counter() - started,
        "cpu_seconds": time.process_time() - busy,
        "peak_memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "seeds": {key: config[key] for key in ("seed", "init_seed", "data_seed")},
        "data": {"vocabulary": data.vocabulary, "floor": data.floor, "content": data.content},
        "code": config["code"],
        "git": config["git"],
        "versions": provenance.versions(),
    }
    write(folder / SUMMARY, json.dumps(summary, indent=2, ensure_ascii=False))


def trainer(config: build.Config, watchers: list[Diagnostic]) -> L.Trainer:
    """Lightning's trainer with nothing on but the loop; the whole validation set is read before the first step too."""
    given = {key: value for key, value in config["trainer"].items() if key not in ("threads", "compile")}
    given["val_check_interval"] *= given["accumulate_grad_batches"]  # Lightning counts batches, we count steps
    return L.Trainer(
        **given, devices=1, callbacks=[Watch(watchers)], logger=False, check_val_every_n_epoch=None,
        num_sanity_val_steps=-1, enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False,
    )  # fmt: skip


def set_aside(folder: Path) -> None:
    """Move what an unfinished attempt left into `attempts/N/`."""
    left = [folder / name for name in (STREAM, TABLE, LOG) if (folder / name).exists()]
    if left:
        attempts = folder / "attempts"
        home = attempts / str(len(list(attempts.glob("*"))))
        home.mkdir(parents=True)
        for path in left:
            path.rename(home / path.name)
