"""Run a study: expand it, train what is missing, report. A Hydra sweeper, so that Hydra's own ways all work."""

import importlib.util
import shlex
import sys
import types
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import yaml
from hydra.core.config_store import ConfigStore
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.plugins import Plugins
from hydra.plugins.launcher import Launcher
from hydra.plugins.sweeper import Sweeper
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig
from rich.console import Console

from experiments.folder import CONFIG, STUDY, finished, opened, safe, write
from experiments.identity import understood
from experiments.launch import KnockoutLauncher
from experiments.mirror import Mirror
from experiments.study import Plan, plan


class KnockoutSweeper(Sweeper):
    """Hydra's sweeper: arms by design, trials by identity, only what is missing is launched."""

    def setup(self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig) -> None:
        """Keep what a sweep needs."""
        self.loader, self.config = hydra_context.config_loader, config
        self.launcher: Launcher = Plugins.instance().instantiate_launcher(hydra_context=hydra_context, task_function=task_function, config=config)

    def sweep(self, arguments: list[str]) -> None:
        """Plan, train, report. Raises SystemExit(1) if trials failed."""
        overrides = OverridesParser.create(config_loader=self.loader).parse_overrides(arguments)
        made = plan(overrides, partial(self.loader.load_sweep_config, self.config))
        results, console = opened(Path(self.config.runtime.results)), Console(highlight=False, soft_wrap=True)
        settings = [line for line in self.config.hydra.overrides.hydra if not line.startswith("hydra.mode=")]
        missing = prepare(results, made, [*settings, *arguments])
        console.print(announcement(made, len(missing)), markup=False)
        home = results / "studies" / safe(made.name)
        with Mirror(home, self.config.runtime.tracking_uri):
            jobs = [[f"trial={results / 'trials' / id}"] for id in missing]
            returned = self.launcher.launch(jobs, initial_job_idx=0) if jobs else []
            page, verdicts = report(home)
        console.print(verdicts, markup=False)
        console.print(f"report: {page}", markup=False)
        self._say_failures(results, missing, returned, console)

    def _say_failures(self, results: Path, missing: Sequence[str], returned: Sequence[Any], console: Console) -> None:
        failed = [id for id in missing if finished(results / "trials" / id) is None]
        for id in failed:
            console.print(f"failed: {results / 'trials' / id / 'trial.log'}", markup=False)
        if failed:
            console.print(f"{len(failed)} of {len(returned)} trials failed; the same command runs them again, and only them", markup=False)
            raise SystemExit(1)


def announcement(made: Plan, missing: int) -> str:
    """The size of a sweep, before it starts."""
    trials = {trial.id for trial in made.trials}
    arms, seeds = f"{len(made.arms)} arm{'s' * (len(made.arms) > 1)}", f"{len(made.seeds)} seed{'s' * (len(made.seeds) > 1)}"
    return f"study {made.name}: {arms} × {seeds} = {len(trials)} trials, {len(trials) - missing} finished, {missing} to train"


def prepare(results: Path, made: Plan, command: Sequence[str]) -> list[str]:
    """Write the study and the configuration of each trial that is not finished; returns these trials' ids."""
    missing: dict[str, dict[str, Any]] = {}
    for trial in made.trials:
        if finished(results / "trials" / trial.id) is None:
            missing.setdefault(trial.id, trial.config | {"label": f"{trial.arm} · seed {trial.seed}"})
    for id, config in missing.items():
        _write_config(results / "trials" / id, config)
    home = results / "studies" / safe(made.name)
    home.mkdir(exist_ok=True)
    write(home / STUDY, yaml.safe_dump(_recorded(made, command), sort_keys=False, allow_unicode=True))
    return list(missing)


def _recorded(made: Plan, command: Sequence[str]) -> dict[str, Any]:
    arms = {label: {"levels": made.levels[label], "parameters": arm.parameters} for label, arm in made.arms.items()}
    trials = [{"id": trial.id, "arm": trial.arm, "seed": trial.seed} for trial in made.trials]
    return made.study | {
        "name": made.name, "command": shlex.join(["knockout", "run", *command]), "seeds": made.seeds,
        "factors": sorted({factor for levels in made.levels.values() for factor in levels}), "arms": arms, "trials": trials,
    }  # fmt: skip


def prepared(config: DictConfig) -> Path:
    """The folder of the one trial that a configuration describes, as another sweeper asks for it."""
    arm = understood(config)
    id, resolved = arm.trial(config.seed)
    folder = opened(Path(config.runtime.results)) / "trials" / id
    if finished(folder) is None:
        _write_config(folder, resolved | {"label": id})
    return folder


def _write_config(folder: Path, config: dict[str, Any]) -> None:
    folder.mkdir(exist_ok=True)
    write(folder / CONFIG, yaml.safe_dump(config, sort_keys=False, allow_unicode=True))


def report(home: Path) -> tuple[Path, str]:
    """Write a study's page; its path, and the verdicts as text."""
    from analysis.report import write_report

    return write_report(home)


def job(config: DictConfig) -> float | None:
    """What another launcher calls, once a job: train the trial if need be; its first endpoint."""
    from experiments.launch import run

    folder = Path(config.trial) if config.trial else prepared(config)
    if finished(folder) is None and run([folder], slots=1)[folder] == "failed":
        raise RuntimeError(f"trial {folder.name} failed: see {folder / 'trial.log'}")
    return endpoint(folder)


def endpoint(folder: Path) -> float:
    """The first endpoint of a finished trial; NaN if it diverged."""
    from analysis.results import reduced

    study = yaml.safe_load((folder / CONFIG).read_text(encoding="utf-8"))["study"]
    measure, reduction = next(iter(study["endpoints"].items()))
    return reduced(folder, measure, reduction)


@dataclass
class _Sweeper:
    _target_: str = "hydra_plugins.knockout.KnockoutSweeper"


@dataclass
class _Launcher:
    _target_: str = "hydra_plugins.knockout.KnockoutLauncher"


def register() -> None:
    """Make the sweeper and the launcher known to Hydra, which takes plugins from the package hydra_plugins only."""
    plugins = Plugins.instance()
    if importlib.util.find_spec("hydra_plugins") is None:
        sys.modules["hydra_plugins"] = types.ModuleType("hydra_plugins")
    module = sys.modules["hydra_plugins.knockout"] = types.ModuleType("hydra_plugins.knockout")
    for plugin, node, group in ((KnockoutSweeper, _Sweeper, "hydra/sweeper"), (KnockoutLauncher, _Launcher, "hydra/launcher")):
        plugin.__module__ = module.__name__
        setattr(module, plugin.__name__, plugin)
        plugins.register(plugin)
        ConfigStore.instance().store("knockout", node, group=group, provider="knockout")
