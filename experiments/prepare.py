"""Write down what a study is to run, before it runs: the study, and the configuration of each trial that is missing."""

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from omegaconf import DictConfig

from analysis.files import write
from experiments import plugins
from experiments.attempt import set_aside
from experiments.catalogue import entries
from experiments.design import aliases
from experiments.folder import CONFIG, PAGE, SHOWN, STUDY, VERDICTS, finished, opened, safe
from experiments.identity import understood
from experiments.lease import clear, take
from experiments.options import KINDS
from experiments.provenance import git
from experiments.recorder import columns
from experiments.study import Plan

KEPT = ("checkpoint_minutes", "keep_gb")  # what of the runtime a trial has to know
DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)  # a study of a thousand trials takes the other a second
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
PROMISED = ("endpoints", "margin", "expect")  # what a study says before it sees its results
REPORTS = (PAGE, VERDICTS, SHOWN, "report.md", "effects.csv")


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


def reopen_unmeasured(results: Path, made: Plan, wish: str) -> None:
    """Finished trials that lack a measure of their arm are run again if `wish` is `again`; what they left is kept.

    Diagnostics change no number, so that a trial is the same again, with more columns.
    """
    for trial in made.trials if wish == "again" else []:
        folder = results / "trials" / trial.id
        lacking = finished(folder) is not None and set(made.arms[trial.arm].measures) - set(columns(folder))
        if lacking and (lease := take(folder)) is not None:
            before = yaml.load((folder / CONFIG).read_text(encoding="utf-8"), Loader=LOADER)["diagnostic"]
            trial.config["diagnostic"] = before | trial.config["diagnostic"]  # no other study loses what it measured
            set_aside(folder)
            lease.release()


def unmeasured(results: Path, made: Plan) -> str:
    """A line if finished trials lack endpoints of the study, since another asked for other measures; else nothing."""
    done = {trial.id: made.arms[trial.arm] for trial in made.trials if finished(results / "trials" / trial.id)}
    asked = {id: arm.measures.keys() & made.study["endpoints"] for id, arm in done.items()}
    lacking = {id: wanted - set(columns(results / "trials" / id)) for id, wanted in asked.items() if wanted}
    names = ", ".join(sorted(set().union(*lacking.values())))
    count = sum(map(bool, lacking.values()))
    how = "which runtime.unmeasured=again would run again; without, these count in no number of it"
    return f"{count} of the finished trials did not measure {names}, {how}" if count else ""


def prepare(results: Path, made: Plan, command: Sequence[str], named: str) -> tuple[list[Path], Path]:
    """Write the study and the configuration of each unfinished trial; these trials' folders, and the study's.

    What a report said of the study when it was another is removed.
    """
    missing: dict[Path, dict[str, Any]] = {}
    for trial in made.trials:
        if finished(folder := results / "trials" / trial.id) is not None:
            clear(folder)
        else:
            label = f"{trial.arm} · seed {trial.seed}"
            missing.setdefault(folder, trial.config | {"label": label, "asked_by": made.name})
    made.refuse_untrainable(trial.arm for trial in made.trials if results / "trials" / trial.id in missing)
    for folder, config in missing.items():
        write_config(folder, config)
    home = results / "studies" / safe(made.name)
    home.mkdir(exist_ok=True)
    asked = _recorded(made, command, shlex.join(["knockout", "report", home.name, "--results", named]))
    asked |= _after_a_look(home, asked)
    text = yaml.dump(asked, Dumper=DUMPER, sort_keys=False, allow_unicode=True)
    if not (home / STUDY).exists() or (home / STUDY).read_text(encoding="utf-8") != text:
        for name in REPORTS:
            (home / name).unlink(missing_ok=True)
        write(home / STUDY, text)
    return list(missing), home


def _sources(made: Plan) -> dict[str, str]:
    """Where the parts of the study come from, by `kind=part`."""
    configs = [arm.config for arm in made.arms.values()]
    used = {f"{kind}={config[kind]['name']}" for config in configs for kind in KINDS if kind in config}
    found = {f"{entry.kind}={entry.name}": entry.source for entry in entries()}
    return {part: found[part] for part in sorted(used) if found.get(part)}


def _after_a_look(home: Path, asked: Mapping[str, Any]) -> dict[str, Any]:
    """What was asked otherwise before, when results could be seen: how many seeds there were, and what else changed."""
    if not (home / STUDY).exists():
        return {"extended": [], "changed": []}
    before = yaml.load((home / STUDY).read_text(encoding="utf-8"), Loader=LOADER)
    seen, extended, changed = (home / VERDICTS).exists(), before.get("extended", []), before.get("changed", [])
    more = set(before["seeds"]) < set(asked["seeds"])
    other = [key for key in PROMISED if before.get(key) != asked.get(key)]
    other += ["seeds"] * (before["seeds"] != asked["seeds"] and not more)
    return {
        "extended": [*extended, *[len(before["seeds"])] * (seen and more)],
        "changed": [*dict.fromkeys([*changed, *(other if seen else [])])],
    }


def _recorded(made: Plan, command: Sequence[str], reported: str) -> dict[str, Any]:
    """The study as it is run: what was asked, and which arms and trials that came to."""
    arms = {label: {"levels": made.levels[label], **arm.described()} for label, arm in made.arms.items()}
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
    asked["sources"] = _sources(made)
    return made.study | asked | {"seeds": made.seeds, "factors": factors, "arms": arms, "trials": trials}


def prepared(config: DictConfig) -> Path:
    """The folder of the one trial that a configuration describes, as another sweeper asks for it."""
    arm = understood(config)
    arm.refuse_untrainable()
    id, resolved = arm.trial(config.seed)
    folder = opened(Path(config.runtime.results)) / "trials" / id
    if finished(folder) is None:
        write_config(folder, resolved | {"label": id})
    return folder


def write_config(folder: Path, config: dict[str, Any]) -> None:
    """What a trial is to do, and the state of the code that it was planned with; not what studies want of it."""
    own = {key: value for key, value in config.items() if key not in ("study", "runtime", "trial")}
    own["runtime"] = {key: config["runtime"][key] for key in KEPT}
    folder.mkdir(parents=True, exist_ok=True)
    write(
        folder / CONFIG,
        yaml.safe_dump(own | {"git": git(), "plugins": plugins.LOADED}, sort_keys=False, allow_unicode=True),
    )
