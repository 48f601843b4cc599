"""Run a study: expand it, train what is missing, report. A Hydra sweeper, so that Hydra's own ways all work."""

import math
import os
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from hydra.core.hydra_config import HydraConfig
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.plugins import Plugins
from hydra.plugins.sweeper import Sweeper
from hydra.types import HydraContext, TaskFunction
from omegaconf import DictConfig
from rich.console import Console

from experiments.axes import word
from experiments.design import aliases
from experiments.folder import LOG, PAGE, SUMMARY, VERDICTS, finished, opened
from experiments.identity import ENDPOINTS
from experiments.launch import run
from experiments.memory import refuse_full_disk
from experiments.mirror import Mirror
from experiments.prepare import prepare, prepared, refuse_other_code, reopen_unmeasured, unmeasured
from experiments.refuse import refuse_crowded, refuse_strangers
from experiments.smoke import crowding, refuse_broken
from experiments.state import DONE, state
from experiments.study import Plan, plan
from experiments.tune import choose, tuning


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
        made = plan(overrides, compose)
        tried = tuning(overrides, compose, made)
        if tried is not None:
            chosen = choose(made, self._run(tried, arguments))
            tuned = {label: made.levels[label] | levels for label, levels in chosen.levels.items()}
            again = plan(overrides, compose, tuned)
            told = {"tuned": chosen.levels, "tuning": tried.name, "edges": chosen.edges}
            made = replace(made, arms=again.arms, study=made.study | told)
        self._run(made, arguments)

    def _run(self, made: Plan, arguments: list[str]) -> Path:
        """Train what is missing of a study and report; its folder."""
        runtime = self.settings.runtime
        results = opened(Path(runtime.results))
        refuse_other_code(results, made, runtime.code)
        refuse_strangers(made.study["exclude"], {trial.id for trial in made.trials})
        refuse_crowded(made.study, [made.arms[trial.arm] for trial in made.missing(results)], runtime)
        reopen_unmeasured(results, made, runtime.unmeasured)
        hydra = [line for line in self.settings.hydra.overrides.hydra if not line.startswith("hydra.mode=")]
        missing, home = prepare(results, made, [*_searched(self.settings), *hydra, *arguments], runtime.results)
        say(announcement(made, len(missing)))
        say(unmeasured(results, made))
        if runtime.failed == "leave":
            missing = [folder for folder in missing if state(folder) != "failed"]
        arms = [trial.arm for trial in made.trials if results / "trials" / trial.id in missing]
        sizes = [made.arms[label].parameters for label in arms]
        refuse_full_disk(results, sizes, runtime.slots or os.cpu_count() or 1, runtime.keep_gb)
        say(crowding(made.arms, refuse_broken(made.arms, arms, runtime), runtime))
        folders = list(dict.fromkeys(results / "trials" / trial.id for trial in made.trials))
        mirror = Mirror(home, runtime.tracking_uri)
        if missing or not reported(home, folders) or not mirror.shown():
            with mirror:
                self._launch(missing)
                write_report(home)
                mirror.conclude()
        say(f"{(home / VERDICTS).read_text(encoding='utf-8')}report: {home / PAGE}")
        close(folders)
        return home

    def _launch(self, missing: list[Path]) -> None:
        if missing:
            assert self.launcher is not None
            self.launcher.launch([[f"trial={word(str(folder))}"] for folder in missing], initial_job_idx=0)


def _searched(settings: DictConfig) -> list[str]:
    """Hydra's option for a folder of the user's own configurations, if there was one; relative if it is here."""
    own = [Path(each.path) for each in settings.hydra.runtime.config_sources if each.provider == "command-line"]
    named = [path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path for path in own]
    return [word for path in named for word in ("--config-dir", str(path))]


def reported(home: Path, trials: Iterable[Path]) -> bool:
    """Whether the study's page has been written since the last of its trials ended."""
    page, ended = home / PAGE, [path.stat().st_mtime for trial in trials if (path := trial / SUMMARY).exists()]
    return page.exists() and page.stat().st_mtime >= max(ended, default=0.0)


def close(trials: Iterable[Path]) -> None:
    """Say what is not finished and why. Raises SystemExit(1) if there is anything."""
    states = {folder: found for folder in trials if (found := state(folder)) not in DONE}
    for folder, found in states.items():
        if found == "failed":
            say(f"failed: {folder / LOG}")
    if states:
        failed = Counter(states.values())["failed"]
        others = f", {len(states) - failed} are not finished" if failed < len(states) else ""
        said = f"{failed} trial{'s' * (failed != 1)} failed{others}"
        say(f"{said}; the same command runs what is left, and only that")
        raise SystemExit(1)


def say(text: str) -> None:
    """Lines for a person, as they are; no line if there is nothing to say."""
    if text:
        Console(highlight=False, soft_wrap=True, markup=False).print(text)


def announcement(made: Plan, missing: int) -> str:
    """The size of a sweep, before it starts."""
    trials = len({trial.id for trial in made.trials})
    size = f"{_counted(len(made.arms), 'arm')} × {_counted(len(made.seeds), 'seed')} = {_counted(trials, 'trial')}"
    lines = [f"study {made.name}: {size}, {trials - missing} finished, {missing} to train"]
    lines += [f"left out, as it cannot be built: {label}: {reason}" for label, reason in made.impossible.items()]
    lines += [f"this design cannot tell apart: {effects}" for effects in aliases(list(made.levels.values()))]
    alike = "trains the same trials as {}: nothing in its model reads what sets them apart"
    return "\n".join([*lines, *(f"{label} {alike.format(other)}" for label, other in twins(made))])


def twins(made: Plan) -> list[tuple[str, str]]:
    """Arms whose trials are those of an earlier arm."""
    first: dict[str, str] = {}
    ids = {label: arm.trial(made.seeds[0])[0] for label, arm in made.arms.items()}
    return [(label, first[id]) for label, id in ids.items() if first.setdefault(id, label) != label]


def _counted(number: int, word: str) -> str:
    return f"{number} {word}{'s' * (number != 1)}"


def write_report(home: Path) -> None:
    """Write a study's page and its verdicts."""
    from analysis import report  # pandas and seaborn take a second to load

    report.write_report(home)


def job(config: DictConfig) -> float:
    """What another launcher calls, once a job: train the trial if need be; the study's first endpoint."""
    folder = Path(config.trial) if config.trial else prepared(config)
    if finished(folder) is None and run([folder], config.runtime, beside=None).get(folder) not in DONE:
        raise RuntimeError(f"trial {folder.name} failed: see {folder / LOG}")
    return endpoint(folder, config.study.endpoints, HydraConfig.get().sweeper)


def endpoint(folder: Path, endpoints: Mapping[str, str], sweeper: Mapping[str, Any]) -> float:
    """The first endpoint of a finished trial, by default the last validation loss.

    What diverged is the worst there is in the sweeper's direction: Optuna's cannot be told a NaN.
    """
    from analysis.results import reduced

    measure, reduction = next(iter((dict(endpoints) or ENDPOINTS).items()))
    summary = finished(folder)
    if summary is not None and summary["status"] == "finished":
        return reduced(folder, measure, reduction)
    return -math.inf if "max" in str(sweeper.get("direction")) else math.inf
