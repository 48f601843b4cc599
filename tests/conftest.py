"""What several tests stand on: a quick configuration, and the command as a person types it."""

import contextlib
import io
import re
import signal
import sqlite3
import subprocess
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import hydra
import pytest
import yaml
from hydra.core.config_store import ConfigStore
from omegaconf import DictConfig

from components.registry import kinds
from experiments import cli, plugins
from experiments.identity import understood
from experiments.options import offer
from experiments.register import register
from experiments.run import CONF

ROOT = Path(__file__).parents[1]
QUICK = (
    "trainer.max_steps=6", "trainer.val_check_interval=3", "schedule.warmup=2", "model.width=16", "model.context=16",
    "batch_size=4", "data.validation_tokens=256",
)  # fmt: skip
Command = Callable[..., subprocess.CompletedProcess[str]]


collect_ignore = ["faulty.py"]  # a plugin: its parts are for the processes that name it


@pytest.fixture
def process(tmp_path: Path) -> Command:
    """`knockout …` in a folder and a process of its own."""
    return lambda *words, **given: typed(tmp_path, *words, **given)


@pytest.fixture
def command(tmp_path: Path) -> Command:
    """`knockout …` in a folder of its own and in this process, where it starts at once."""
    return lambda *words: called(tmp_path, *words)


def called(folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    """Run a command in this process and return what it printed and its status."""
    out, err, code = io.StringIO(), io.StringIO(), 0
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGUSR1)}
    registries = {**kinds("components"), **kinds("experiments")}.values()
    parts = {registry: {name: registry[name] for name in registry.names()} for registry in registries}
    store = ConfigStore.instance().repo
    offered = {group: dict(options) if isinstance(options, dict) else options for group, options in store.items()}
    loaded = dict(plugins.LOADED)
    try:
        with (
            contextlib.chdir(folder), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err),
            mock.patch.object(sys, "argv", ["knockout", *words]),
        ):  # fmt: skip
            cli.main()
    except SystemExit as end:
        said = isinstance(end.code, str)
        code, message = (1, f"{end.code}\n") if said else (int(end.code or 0), "")
        err.write(message)
    except Exception:
        code = 1
        traceback.print_exc(file=err)
    finally:  # what a plugin brought goes again
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for registry, own in parts.items():
            registry._parts.clear()
            registry._parts.update(own)
        store.update(offered)
        plugins.LOADED.clear()
        plugins.LOADED.update(loaded)
        for name in [name for name in sys.modules if name.startswith("knockout_plugin_")]:
            del sys.modules[name]
    return subprocess.CompletedProcess(words, code, out.getvalue(), err.getvalue())


def typed(folder: Path, *words: str, program: tuple[str, ...] = ("-m", "experiments.cli"), **given: Any) -> Any:
    """Run a command to its end and return what it printed and its status."""
    line = [sys.executable, *program, *words]
    return subprocess.run(line, cwd=folder, capture_output=True, text=True, check=False, timeout=300, **given)


@pytest.fixture(scope="session")
def compose() -> Callable[..., DictConfig]:
    """A configuration out of overrides, as Hydra makes it."""
    offer()
    register()

    def composed(*overrides: str) -> DictConfig:
        drawn = any(word.startswith("data=") and word not in ("data=text", "data=pydoc") for word in overrides)
        quick = [word for word in QUICK if not (drawn and word.startswith("data."))]
        with hydra.initialize_config_dir(str(CONF), version_base="1.3"):
            return hydra.compose("config", [*quick, *overrides])

    return composed


@pytest.fixture
def folder_of(compose: Callable[..., DictConfig], tmp_path: Path) -> Callable[..., Path]:
    """A trial's folder, prepared but not trained."""

    def prepared(*overrides: str) -> Path:
        id, config = understood(made := compose(*overrides)).trial(made.seed)
        folder = tmp_path / f"{len(list(tmp_path.iterdir()))}-{id}"
        folder.mkdir()
        (folder / "config.yaml").write_text(yaml.safe_dump(config | {"label": id, "git": "", "plugins": {}}))
        return folder

    return prepared


@pytest.fixture(scope="session")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A text of 4,000 characters."""
    path = tmp_path_factory.mktemp("text") / "text.txt"
    path.write_text("the keys to the cabinet are on the table, and the cat sat. " * 68)
    return path


def trained(ran: "subprocess.CompletedProcess[str]") -> int:
    """How many trials a command said that it had to train."""
    found = re.search(r"(\d+) to train", ran.stdout)
    assert found, ran.stdout + ran.stderr
    return int(found.group(1))


def runs(folder: Path) -> list[dict[str, Any]]:
    """MLflow's runs with their tags."""
    base = sqlite3.connect(folder / "results" / "mlflow.db")
    tags: dict[str, dict[str, str]] = {}
    for run, key, value in base.execute("select run_uuid, key, value from tags"):
        tags.setdefault(run, {})[key] = value
    names = base.execute("select run_uuid, name, status from runs").fetchall()
    return [{"id": run, "name": name, "state": status, **tags.get(run, {})} for run, name, status in names]
