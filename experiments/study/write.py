"""Write down what a study is to run before it runs: the study, and the configuration of each missing trial."""

import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from omegaconf import DictConfig

from analysis.record.files import DamagedFile, write_text
from analysis.record.layout import (
    CONFIG,
    REPORT_FILES,
    STUDY,
    VERDICTS,
    ensure_results_folder,
    study_folder,
    trial_folder,
)
from analysis.record.plain import yaml_text
from analysis.record.study_file import StudyRecord, read_study, study_record, study_text
from analysis.record.summary import read_summary
from experiments.design import aliases
from experiments.lifecycle.environment import git_state
from experiments.lifecycle.lease import remove_dead_leases
from experiments.settings import plugins
from experiments.settings.part_docs import part_docs
from experiments.settings.schema import KINDS
from experiments.study.arm import resolve_arm
from experiments.study.plan import Plan

TRIAL_RUNTIME = ("checkpoint_minutes", "keep_gb")  # what of the runtime a trial has to know


DECLARED_BEFORE = ("endpoints", "margin", "expect")  # what a study says before it sees its results


def write_study(results: Path, made: Plan, command: Sequence[str], named: str) -> tuple[list[Path], Path]:
    """Write the study and the configuration of each unfinished trial; these trials' folders, and the study's.

    What a report said of the study when it was another is removed.
    """
    missing: dict[Path, dict[str, Any]] = {}
    for trial in made.trials:
        if read_summary(folder := trial_folder(results, trial.id)) is not None:
            remove_dead_leases(folder)
        else:
            label = f"{trial.arm} · seed {trial.seed}"
            missing.setdefault(folder, trial.config | {"label": label, "asked_by": made.name})
    made.refuse_untrainable(trial.arm for trial in made.trials if trial_folder(results, trial.id) in missing)
    for folder, config in missing.items():
        write_trial_config(folder, config)
    home = study_folder(results, made.name)
    home.mkdir(exist_ok=True)
    study = _study_record(made, command, shlex.join(["knockout", "report", home.name, "--results", named]))
    text = study_text(_with_changes_after_results(home, study))
    if not (home / STUDY).exists() or (home / STUDY).read_bytes() != text.encode():
        for name in REPORT_FILES:
            (home / name).unlink(missing_ok=True)
        write_text(home / STUDY, text)
    return list(missing), home


def _part_sources(made: Plan) -> dict[str, str]:
    """Where the parts of the study come from, by `kind=part`."""
    configs = [arm.config for arm in made.arms.values()]
    used = {f"{kind}={config[kind]['name']}" for config in configs for kind in KINDS if kind in config}
    found = {f"{entry.kind}={entry.name}": entry.source for entry in part_docs()}
    return {part: found[part] for part in sorted(used) if found.get(part)}


def _with_changes_after_results(home: Path, study: StudyRecord) -> StudyRecord:
    """The study with what it has changed since its results could be seen: the number of seeds, or a declaration."""
    if not (home / STUDY).exists():
        return study
    seen = (home / VERDICTS).exists()
    try:
        before = read_study(home)
    except DamagedFile as damage:
        return replace(study, changed=[f"perhaps anything: {damage}"]) if seen else study
    extended, changed = list(before.extended), list(before.changed)
    if seen:
        changed += [key for key in DECLARED_BEFORE if getattr(before, key) != getattr(study, key)]
        if set(before.seeds) < set(study.seeds):
            extended.append(len(before.seeds))
        elif before.seeds != study.seeds:
            changed.append("seeds")
    return replace(study, extended=extended, changed=list(dict.fromkeys(changed)))


def _study_record(made: Plan, command: Sequence[str], reported: str) -> StudyRecord:
    """The study as it is run: what was asked, and which arms and trials that came to."""
    arms = {label: {"levels": made.levels[label], **arm.record()} for label, arm in made.arms.items()}
    trials = [{"id": trial.id, "arm": trial.arm, "seed": trial.seed} for trial in made.trials]
    factors = sorted({factor for levels in made.levels.values() for factor in levels})
    asked: dict[str, Any] = {
        "name": made.name,
        "command": shlex.join(["knockout", "run", *command]),
        "report": reported,
    }
    asked["budget"] = next(iter(made.arms.values())).config["budget"]
    asked["impossible"] = made.impossible
    asked["aliases"] = aliases(list(made.levels.values()))
    asked["sources"] = _part_sources(made)
    return study_record(made.study | asked | {"seeds": made.seeds, "factors": factors, "arms": arms, "trials": trials})


def prepare_single_trial(config: DictConfig) -> Path:
    """The folder of the one trial that a configuration describes, as another sweeper asks for it."""
    arm = resolve_arm(config)
    arm.refuse_untrainable()
    id, resolved = arm.trial(config.seed)
    folder = trial_folder(ensure_results_folder(Path(config.runtime.results)), id)
    if read_summary(folder) is None:
        write_trial_config(folder, resolved | {"label": id})
    return folder


def write_trial_config(folder: Path, config: dict[str, Any]) -> None:
    """What a trial is to do, and the state of the code that it was planned with; not what studies want of it."""
    own = {key: value for key, value in config.items() if key not in ("study", "runtime", "trial")}
    own["runtime"] = {key: config["runtime"][key] for key in TRIAL_RUNTIME}
    folder.mkdir(parents=True, exist_ok=True)
    write_text(
        folder / CONFIG,
        yaml_text(own | {"git": git_state(), "plugins": plugins.LOADED}),
    )
