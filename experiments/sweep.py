"""Run a study: expand it, train what is missing, report. A Hydra sweeper, so that Hydra's own ways all work."""

import importlib.util
import shlex
import sys
import types
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import yaml
from hydra.core.config_store import ConfigStore
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.plugins import Plugins
from hydra.plugins.sweeper import Sweeper
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig
from rich.console import Console

from experiments import plugins
from experiments.folder import CONFIG, LOG, STUDY, finished, opened, safe, write
from experiments.identity import ENDPOINTS, understood
from experiments.launch import KnockoutLauncher, run
from experiments.mirror import Mirror
from experiments.provenance import git
from experiments.study import Plan, plan, word

REPORTS = ("report.html", "report.md", "effects.csv")


class KnockoutSweeper(Sweeper):
    """Hydra's sweeper: arms by design, trials by identity, only what is missing is launched."""

    def setup(self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig) -> None:
        """Keep what a sweep needs."""
        self.loader, self.settings = hydra_context.config_loader, config
        self.launcher = Plugins.instance().instantiate_launcher(
            hydra_context=hydra_context, task_function=task_function, config=config
        )

    def sweep(self, arguments: list[str]) -> None:
        """Plan, train, report. Raises SystemExit(1) if trials failed."""
        overrides = OverridesParser.create(config_loader=self.loader).parse_overrides(arguments)
        made = plan(overrides, partial(self.loader.load_sweep_config, self.settings))
        runtime = self.settings.runtime
        results = opened(Path(runtime.results))
        refuse_other_code(results, made, runtime.code)
        hydra = [line for line in self.settings.hydra.overrides.hydra if not line.startswith("hydra.mode=")]
        missing, home = prepare(results, made, [*hydra, *arguments], runtime.results)
        say(announcement(made, len(missing)))
        with Mirror(home, runtime.tracking_uri) as mirror:
            if missing:
                assert self.launcher is not None
                self.launcher.launch([[f"trial={word(str(folder))}"] for folder in missing], initial_job_idx=0)
            page, verdicts = report(home)
            say(f"{verdicts}\nreport: {page}")
            mirror.conclude()
        if failed := [folder for folder in missing if finished(folder) is None]:
            say("\n".join(f"failed: {folder / LOG}" for folder in failed))
            say(f"{len(failed)} of {len(missing)} trials failed; the same command runs them again, and only them")
            raise SystemExit(1)


def say(text: str) -> None:
    """Lines for a person, as they are."""
    Console(highlight=False, soft_wrap=True, markup=False).print(text)


def announcement(made: Plan, missing: int) -> str:
    """The size of a sweep, before it starts."""
    trials = len({trial.id for trial in made.trials})
    size = f"{_counted(len(made.arms), 'arm')} × {_counted(len(made.seeds), 'seed')} = {_counted(trials, 'trial')}"
    lines = [f"study {made.name}: {size}, {trials - missing} finished, {missing} to train"]
    alike = "trains the same trials as {}: nothing in its model reads what sets them apart"
    return "\n".join([*lines, *(f"{label} {alike.format(other)}" for label, other in twins(made))])


def twins(made: Plan) -> list[tuple[str, str]]:
    """Arms whose trials are those of an earlier arm."""
    first: dict[str, str] = {}
    ids = {label: arm.trial(made.seeds[0])[0] for label, arm in made.arms.items()}
    return [(label, first[id]) for label, id in ids.items() if first.setdefault(id, label) != label]


def _counted(number: int, word: str) -> str:
    return f"{number} {word}{'s' * (number != 1)}"


def refuse_other_code(results: Path, made: Plan, accepted: str) -> None:
    """Raises ValueError if finished trials come from code that has changed since, unless `accepted` is `any`."""
    arms = {trial.id: made.arms[trial.arm] for trial in made.trials}
    summaries = {id: finished(results / "trials" / id) for id in arms}
    old = sorted(id for id, summary in summaries.items() if summary and summary["code"] != arms[id].code)
    if old and accepted != "any":
        raise ValueError(
            f"{len(old)} finished trials were made by code that has changed since: {', '.join(old)}; to compare them "
            f"with new ones all the same type runtime.code=any, to train them again move them out of {results}/trials"
        )


def prepare(results: Path, made: Plan, command: Sequence[str], named: str) -> tuple[list[Path], Path]:
    """Write the study and the configuration of each unfinished trial; these trials' folders, and the study's.

    What a report said of the study when it had other arms or trials is removed.
    """
    missing: dict[Path, dict[str, Any]] = {}
    for trial in made.trials:
        if finished(folder := results / "trials" / trial.id) is None:
            missing.setdefault(folder, trial.config | {"label": f"{trial.arm} · seed {trial.seed}"})
    for folder, config in missing.items():
        _write_config(folder, config)
    home = results / "studies" / safe(made.name)
    home.mkdir(exist_ok=True)
    asked = _recorded(made, command, shlex.join(["knockout", "report", home.name, "--results", named]))
    before = yaml.safe_load((home / STUDY).read_text(encoding="utf-8")) if (home / STUDY).exists() else asked
    if before["trials"] != asked["trials"]:
        for name in REPORTS:
            (home / name).unlink(missing_ok=True)
    write(home / STUDY, yaml.safe_dump(asked, sort_keys=False, allow_unicode=True))
    return list(missing), home


def _recorded(made: Plan, command: Sequence[str], reported: str) -> dict[str, Any]:
    """The study as it is run: what was asked, and which arms and trials that came to."""
    arms = {label: {"levels": made.levels[label], **arm.described()} for label, arm in made.arms.items()}
    trials = [{"id": trial.id, "arm": trial.arm, "seed": trial.seed} for trial in made.trials]
    factors = sorted({factor for levels in made.levels.values() for factor in levels})
    asked = {"name": made.name, "command": shlex.join(["knockout", "run", *command]), "report": reported}
    asked["budget"] = next(iter(made.arms.values())).config["budget"]
    return made.study | asked | {"seeds": made.seeds, "factors": factors, "arms": arms, "trials": trials}


def prepared(config: DictConfig) -> Path:
    """The folder of the one trial that a configuration describes, as another sweeper asks for it."""
    arm = understood(config)
    id, resolved = arm.trial(config.seed)
    folder = opened(Path(config.runtime.results)) / "trials" / id
    if finished(folder) is None:
        _write_config(folder, resolved | {"label": id})
    return folder


def _write_config(folder: Path, config: dict[str, Any]) -> None:
    """What a trial is to do, and the state of the code that it was planned with; not what studies want of it."""
    own = {key: value for key, value in config.items() if key not in ("study", "runtime", "trial")}
    folder.mkdir(exist_ok=True)
    write(
        folder / CONFIG,
        yaml.safe_dump(own | {"git": git(), "plugins": list(plugins.LOADED)}, sort_keys=False, allow_unicode=True),
    )


def report(home: Path) -> tuple[Path, str]:
    """Write a study's page; its path, and the verdicts as text."""
    from analysis.report import write_report

    return write_report(home)


def job(config: DictConfig) -> float:
    """What another launcher calls, once a job: train the trial if need be; the study's first endpoint."""
    folder = Path(config.trial) if config.trial else prepared(config)
    if finished(folder) is None and run([folder], slots=1)[folder] == "failed":
        raise RuntimeError(f"trial {folder.name} failed: see {folder / LOG}")
    return endpoint(folder, config.study.endpoints)


def endpoint(folder: Path, endpoints: Mapping[str, str]) -> float:
    """The first endpoint of a finished trial, by default the last validation loss; NaN if it diverged."""
    from analysis.results import reduced

    measure, reduction = next(iter((dict(endpoints) or ENDPOINTS).items()))
    summary = finished(folder)
    return reduced(folder, measure, reduction) if summary and summary["status"] == "finished" else float("nan")


@dataclass
class _Sweeper:
    _target_: str = "hydra_plugins.knockout.KnockoutSweeper"


@dataclass
class _Launcher:
    _target_: str = "hydra_plugins.knockout.KnockoutLauncher"


def register() -> None:
    """Make the sweeper and the launcher known to Hydra, which takes plugins from the package hydra_plugins only."""
    plugins = Plugins.instance()
    if "hydra_plugins" not in sys.modules and importlib.util.find_spec("hydra_plugins") is None:
        sys.modules["hydra_plugins"] = types.ModuleType("hydra_plugins")
    module = sys.modules["hydra_plugins.knockout"] = types.ModuleType("hydra_plugins.knockout")
    for plugin, node, group in (
        (KnockoutSweeper, _Sweeper, "hydra/sweeper"),
        (KnockoutLauncher, _Launcher, "hydra/launcher"),
    ):
        plugin.__module__ = module.__name__
        setattr(module, plugin.__name__, plugin)
        plugins.register(plugin)
        ConfigStore.instance().store("knockout", node, group=group, provider="knockout")
