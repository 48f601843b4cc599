"""Hydra's plugins: the sweepers and the launcher."""

import importlib.util
import math
import os
import sys
import types
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from hydra.core.config_store import ConfigStore
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.plugins import Plugins
from hydra.core.utils import JobReturn, JobStatus
from hydra.plugins.launcher import Launcher
from hydra.plugins.sweeper import Sweeper
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig
from rich.console import Console

from analysis.record.layout import EFFECTS, MARKDOWN, PAGE, SUMMARY, VERDICTS, ensure_results_folder, trial_folder
from analysis.record.summary import COMPLETE, read_summary
from experiments.commands.announce import plan_summary
from experiments.commands.plan import (
    TIMED_STEPS,
    arm_table,
    cautions_text,
    detectable_effects_text,
    device_hours,
    exact_test_note,
)
from experiments.launch.devices import refuse_shared_devices
from experiments.launch.queue import run_trials
from experiments.launch.resources import refuse_full_disk
from experiments.launch.smoke import memory_warning, refuse_failing_arms, take_smoke_steps
from experiments.lifecycle.state import failure_text, trial_state
from experiments.lifecycle.terminal import echo
from experiments.settings.overrides import override_text
from experiments.study.arm import ENDPOINTS
from experiments.study.checks import refuse_unknown_exclusions
from experiments.study.plan import Plan, plan_study
from experiments.study.reuse import (
    damaged_trials_note,
    missing_measures_note,
    refuse_changed_code,
    refuse_changed_measures,
    reopen_for_missing_measures,
)
from experiments.study.tuning import choose_settings, plan_tuning
from experiments.study.write import prepare_single_trial, write_study
from experiments.tracking.mirror import Mirror


class KnockoutSweeper(Sweeper):
    """Hydra's sweeper: arms by design, trials by identity, only what is missing is launched."""

    def setup(self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig) -> None:
        """Keep what a sweep needs."""
        self.loader, self.settings = hydra_context.config_loader, config
        self.launcher = Plugins.instance().instantiate_launcher(
            hydra_context=hydra_context, task_function=task_function, config=config
        )

    def sweep(self, arguments: list[str]) -> None:
        """Plan, let arms choose what they may, train, report. Raises SystemExit(1) if trials failed."""
        overrides = OverridesParser.create(config_loader=self.loader).parse_overrides(arguments)
        compose = partial(self.loader.load_sweep_config, self.settings)
        made = plan_study(overrides, compose)
        tried = plan_tuning(overrides, compose, made)
        if tried is not None:
            chosen = choose_settings(made, self._run(tried, arguments))
            tuned = {label: made.levels[label] | levels for label, levels in chosen.levels.items()}
            again = plan_study(overrides, compose, tuned)
            told = {"tuned": chosen.levels, "tuning": tried.name, "edges": chosen.edges}
            made = replace(made, arms=again.arms, study=made.study | told)
        self._run(made, arguments)

    def _run(self, made: Plan, arguments: list[str]) -> Path:
        """Train what is missing of a study and report; its folder."""
        runtime = self.settings.runtime
        results = ensure_results_folder(Path(runtime.results))
        refuse_changed_code(results, made, runtime.code)
        refuse_changed_measures(results, made, runtime.code, runtime.unmeasured)
        refuse_unknown_exclusions(made.study["exclude"], {trial.id for trial in made.trials})
        refuse_shared_devices(made.study, [made.arms[trial.arm] for trial in made.missing(results)], runtime)
        reopen_for_missing_measures(results, made, runtime.unmeasured)
        hydra = [line for line in self.settings.hydra.overrides.hydra if not line.startswith("hydra.mode=")]
        damaged = damaged_trials_note(results, made)
        missing, home = write_study(
            results, made, [*_config_dir_options(self.settings), *hydra, *arguments], runtime.results
        )
        echo(plan_summary(made, len(missing)))
        echo(damaged)
        echo(missing_measures_note(results, made))
        if runtime.failed == "leave":
            missing = [folder for folder in missing if trial_state(folder) != "failed"]
        arms = [trial.arm for trial in made.trials if trial_folder(results, trial.id) in missing]
        sizes = [made.arms[label].parameters for label in arms]
        refuse_full_disk(results, sizes, runtime.slots or os.cpu_count() or 1, runtime.keep_gb)
        echo(memory_warning(made.arms, refuse_failing_arms(made.arms, arms, runtime), runtime))
        folders = list(dict.fromkeys(trial_folder(results, trial.id) for trial in made.trials))
        mirror = Mirror(home, runtime.tracking_uri)
        if missing or not report_is_current(home, folders) or not mirror.is_complete():
            with mirror:
                self._launch(missing)
                write_report(home)
                mirror.conclude()
        echo(f"{(home / VERDICTS).read_text(encoding='utf-8')}report: {home / PAGE}")
        exit_if_unfinished(folders)
        return home

    def _launch(self, missing: list[Path]) -> None:
        if missing:
            assert self.launcher is not None
            self.launcher.launch([[f"trial={override_text(str(folder))}"] for folder in missing], initial_job_idx=0)


def _config_dir_options(settings: DictConfig) -> list[str]:
    """Hydra's option for a folder of the user's own configurations, if there was one; relative if it is here."""
    own = [Path(each.path) for each in settings.hydra.runtime.config_sources if each.provider == "command-line"]
    named = [path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path for path in own]
    return [word for path in named for word in ("--config-dir", str(path))]


def report_is_current(home: Path, trials: Iterable[Path]) -> bool:
    """Whether the study's page has been written since the last of its trials ended, and none of its files is cut."""
    if not all(_ends_with_a_line(home / name) for name in (PAGE, MARKDOWN, EFFECTS, VERDICTS)):
        return False
    page, ended = home / PAGE, [path.stat().st_mtime for trial in trials if (path := trial / SUMMARY).exists()]
    return page.exists() and page.stat().st_mtime >= max(ended, default=0.0)


def _ends_with_a_line(path: Path) -> bool:
    """Whether a file is text that ends as every text that is written whole does."""
    try:
        return path.read_text(encoding="utf-8").endswith("\n")
    except (OSError, UnicodeDecodeError):
        return False


def exit_if_unfinished(trials: Iterable[Path]) -> None:
    """Say what is not finished and why. Raises SystemExit(1) if there is anything."""
    states = {folder: found for folder in trials if (found := trial_state(folder)) not in COMPLETE}
    for folder, found in states.items():
        if found == "failed":
            echo(f"failed: trial {folder.name}: {failure_text(folder)}")
    if states:
        failed = Counter(states.values())["failed"]
        others = f", {len(states) - failed} are not finished" if failed < len(states) else ""
        said = f"{failed} trial{'s' * (failed != 1)} failed{others}"
        echo(f"{said}; the same command runs what is left, and only that")
        raise SystemExit(1)


def write_report(home: Path) -> None:
    """Write a study's page and its verdicts."""
    from analysis.page.report import write_report as write_page  # imports pandas and seaborn, which takes a second

    write_page(home)


def first_endpoint(folder: Path, endpoints: Mapping[str, str], sweeper: Mapping[str, Any]) -> float:
    """The first endpoint of a finished trial, by default the last validation loss.

    What diverged is the worst there is in the sweeper's direction: Optuna's cannot be told a NaN.
    """
    from analysis.tables.results import reduced_value  # imports pandas, which takes a second

    measure, reduction = next(iter((dict(endpoints) or ENDPOINTS).items()))
    summary = read_summary(folder)
    if summary is not None and summary.status == "finished":
        return reduced_value(folder, measure, reduction)
    return -math.inf if "max" in str(sweeper.get("direction")) else math.inf


class PlanSweeper(KnockoutSweeper):
    """Says what the sweep would be."""

    def sweep(self, arguments: list[str]) -> None:
        """Plan, take a few steps of every arm that has something to train, print."""
        overrides = OverridesParser.create(config_loader=self.loader).parse_overrides(arguments)
        compose = partial(self.loader.load_sweep_config, self.settings)
        made = plan_study(overrides, compose)
        tried_first = plan_tuning(overrides, compose, made)
        if tried_first is not None:
            echo(f"first, to let each arm choose: {plan_summary(tried_first, len(tried_first.trials))}")
        runtime, results = self.settings.runtime, Path(self.settings.runtime.results)
        refuse_changed_code(results, made, runtime.code)
        refuse_changed_measures(results, made, runtime.code, runtime.unmeasured)
        missing = {trial.id: trial.arm for trial in made.missing(results)}
        made.refuse_untrainable(missing.values())
        refuse_shared_devices(made.study, [made.arms[label] for label in missing.values()], runtime)
        echo(made.study["question"])
        echo(plan_summary(made, len(missing)))
        echo(damaged_trials_note(results, made))
        echo("" if runtime.unmeasured == "again" else missing_measures_note(results, made))
        tried = take_smoke_steps(
            made.arms, dict.fromkeys(missing.values()) if runtime.smoke else [], runtime, TIMED_STEPS
        )
        Console(soft_wrap=True, highlight=False, markup=False, emoji=False).print(
            arm_table(made, missing, tried.seconds)
        )
        for label, reason in tried.errors.items():
            echo(f"{label} fails within {TIMED_STEPS} steps: {reason}")
        echo(device_hours(made, missing, tried.seconds, runtime))
        echo(memory_warning(made.arms, tried, runtime))
        echo(detectable_effects_text(made, results))
        echo(exact_test_note(made))
        echo(cautions_text(made))


class KnockoutLauncher(Launcher):
    """Hydra's launcher: one job is one trial's folder, `trial=FOLDER`."""

    def setup(self, *, hydra_context: HydraContext, task_function: TaskFunction, config: DictConfig) -> None:
        """Keep what a launch needs."""
        self.hydra_context, self.task_function, self.config = hydra_context, task_function, config

    def launch(self, job_overrides: Sequence[Sequence[str]], initial_job_idx: int) -> Sequence[JobReturn]:
        """Run each trial that is not finished, once; one that fails stops no other."""
        folders = [self._folder(overrides) for overrides in job_overrides]
        run_trials([folder for folder in dict.fromkeys(folders) if read_summary(folder) is None], self.config.runtime)
        return [self._returned(folder) for folder in folders]

    def _folder(self, overrides: Sequence[str]) -> Path:
        """The folder that was prepared, or one prepared now, when another sweeper names settings."""
        named = {o.get_key_element(): o.value() for o in OverridesParser.create().parse_overrides(list(overrides))}
        if "trial" in named:
            return Path(str(named["trial"]))
        return prepare_single_trial(self.hydra_context.config_loader.load_sweep_config(self.config, list(overrides)))

    def _returned(self, folder: Path) -> JobReturn:
        if read_summary(folder) is None:
            error = RuntimeError(f"trial {folder.name} failed: {failure_text(folder)}")
            return JobReturn(status=JobStatus.FAILED, _return_value=error)
        value = first_endpoint(folder, self.config.study.endpoints, self.config.hydra.sweeper)
        return JobReturn(status=JobStatus.COMPLETED, _return_value=value)


@dataclass
class _Sweeper:
    _target_: str = "hydra_plugins.knockout.KnockoutSweeper"


@dataclass
class _PlanSweeper:
    _target_: str = "hydra_plugins.knockout.PlanSweeper"


@dataclass
class _Launcher:
    _target_: str = "hydra_plugins.knockout.KnockoutLauncher"


def register_hydra_plugins() -> None:
    """Make the sweeper and the launcher known to Hydra, which takes plugins from the package hydra_plugins only."""
    plugins = Plugins.instance()
    if "hydra_plugins" not in sys.modules and importlib.util.find_spec("hydra_plugins") is None:
        sys.modules["hydra_plugins"] = types.ModuleType("hydra_plugins")
    module = sys.modules["hydra_plugins.knockout"] = types.ModuleType("hydra_plugins.knockout")
    for plugin, node, group, name in (
        (KnockoutSweeper, _Sweeper, "hydra/sweeper", "knockout"),
        (PlanSweeper, _PlanSweeper, "hydra/sweeper", "knockout_plan"),
        (KnockoutLauncher, _Launcher, "hydra/launcher", "knockout"),
    ):
        plugin.__module__ = module.__name__
        setattr(module, plugin.__name__, plugin)
        plugins.register(plugin)
        ConfigStore.instance().store(name, node, group=group, provider="knockout")
