"""Run trials on this machine: each in a process of its own, as many at a time as there are slots.

Processes are forked from a warm server that has torch and Lightning loaded; they share no state, so
that an error, a crash or a kill ends one trial.
"""

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import wait
from multiprocessing.context import BaseContext
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import yaml
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.utils import JobReturn, JobStatus
from hydra.plugins.launcher import Launcher
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig

from experiments.folder import CONFIG, LOG, finished
from experiments.progress import Board
from experiments.recorder import read


class KnockoutLauncher(Launcher):
    """Hydra's launcher: one job is one trial's folder, `trial=FOLDER`."""

    def setup(self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig) -> None:
        """Keep what a launch needs."""
        self.hydra_context, self.task_function, self.config = hydra_context, task_function, config

    def launch(self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int) -> Sequence[JobReturn]:
        """Run each trial that is not finished, once; one that fails stops no other."""
        folders = [self._folder(overrides) for overrides in job_overrides]
        run([folder for folder in dict.fromkeys(folders) if finished(folder) is None], self.config.runtime.slots)
        return [self._returned(folder) for folder in folders]

    def _folder(self, overrides: Sequence[str]) -> Path:
        """The folder that was prepared, or one prepared now, when another sweeper names settings."""
        from experiments.prepare import prepared

        named = {o.get_key_element(): o.value() for o in OverridesParser.create().parse_overrides(list(overrides))}
        if "trial" in named:
            return Path(str(named["trial"]))
        return prepared(self.hydra_context.config_loader.load_sweep_config(self.config, list(overrides)))

    def _returned(self, folder: Path) -> JobReturn:
        from experiments.sweep import endpoint

        if finished(folder) is None:
            error = RuntimeError(f"trial {folder.name} failed: see {folder / LOG}")
            return JobReturn(status=JobStatus.FAILED, _return_value=error)
        return JobReturn(status=JobStatus.COMPLETED, _return_value=endpoint(folder, self.config.study.endpoints))


@dataclass
class Running:
    """A trial's process."""

    folder: Path
    process: BaseProcess
    started: float

    def outcome(self) -> str:
        """How it ended: finished, diverged or failed."""
        summary = finished(self.folder)
        return "failed" if summary is None else summary["status"]

    def steps(self) -> int:
        """Optimizer steps on record."""
        history = read(self.folder)
        return 0 if history is None else history["step"][-1].as_py()


def slots_for(threads: int) -> int:
    """As many trials at a time as this process has cores for."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, cores // threads)


def run(folders: Sequence[Path], slots: int | None = None) -> dict[Path, str]:
    """Each folder's outcome. An interrupt ends the running trials and is passed on."""
    configs = {folder: yaml.safe_load((folder / CONFIG).read_text(encoding="utf-8")) for folder in folders}
    slots = slots or slots_for(max((config["trainer"]["threads"] for config in configs.values()), default=1))
    method = "forkserver" if sys.platform == "linux" else "spawn"  # elsewhere forking is not safe
    context = multiprocessing.get_context(method)
    context.set_forkserver_preload(["experiments.warm"])
    waiting, running, outcomes = list(folders), list[Running](), dict[Path, str]()
    with Board(len(waiting)) as board:
        try:
            while waiting or running:
                ended = [trial for trial in running if not trial.process.is_alive()]
                running = [trial for trial in running if trial not in ended]
                while waiting and len(running) < slots:
                    folder = waiting.pop(0)
                    running.append(_start(context, folder, configs[folder], board))
                for trial in ended:
                    outcomes[trial.folder] = trial.outcome()
                    board.end(trial.folder.name, trial.outcome(), time.monotonic() - trial.started)
                board.running({trial.folder.name: trial.steps for trial in running})
                wait([trial.process.sentinel for trial in running], timeout=0.5)
        finally:
            _end(running)
    return outcomes


def _start(context: BaseContext, folder: Path, config: dict[str, Any], board: Board) -> Running:
    process = context.Process(target=child, args=(folder,), name=f"trial {folder.name}")  # type: ignore[attr-defined]
    process.start()
    board.start(folder.name, config["label"], config["trainer"]["max_steps"])
    return Running(folder, process, time.monotonic())


def child(folder: Path) -> None:
    """The trial's process: it outlives neither its parent nor its trial, and leaves interrupts to its parent."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    from experiments.trial import main

    main(folder)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _end(running: Sequence[Running]) -> None:
    """End processes that still run, gently, then surely."""
    for trial in running:
        trial.process.terminate()
    for trial in running:
        trial.process.join(5)
        trial.process.kill()
