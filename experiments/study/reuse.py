"""Reuse finished trials: refuse those of other code, name or reopen those that lack a measure or have an old one."""

from pathlib import Path

from analysis.record.config_file import read_config
from analysis.record.history import declared_measures, history_columns
from analysis.record.layout import trial_folder
from analysis.record.summary import read_summary, trial_damage
from experiments.lifecycle.attempts import set_attempt_aside
from experiments.lifecycle.lease import acquire
from experiments.study.plan import Plan, PlannedTrial


def refuse_changed_code(results: Path, made: Plan, accepted: str) -> None:
    """Raises ValueError if finished trials come from code that has changed since, unless `accepted` is `any`."""
    arms = {trial.id: made.arms[trial.arm] for trial in made.trials}
    summaries = {id: read_summary(trial_folder(results, id)) for id in arms}
    old = sorted(id for id, summary in summaries.items() if summary and summary.code != arms[id].code)
    if old and accepted != "any":
        raise ValueError(
            f"{len(old)} finished trials were made by code that has changed since: {', '.join(old)}; to compare them "
            f"with new ones all the same type runtime.code=any, to train them again move them out of {results}/trials"
        )


def refuse_changed_measures(results: Path, made: Plan, accepted: str, wish: str) -> None:
    """Raises ValueError if finished trials measured something by code that has changed since.

    Not if `accepted` is `any`, nor if `wish` is `again`, since they are then measured anew.
    """
    names = {trial.id: changed_measures(trial_folder(results, trial.id), made, trial) for trial in made.trials}
    changed = {id: measures for id, measures in names.items() if measures}
    if changed and accepted != "any" and wish != "again":
        measures = ", ".join(sorted(set().union(*changed.values())))
        raise ValueError(
            f"{len(changed)} finished trials measured {measures} by code that has changed since: "
            f"{', '.join(sorted(changed))}; runtime.unmeasured=again trains them again to measure anew, all else stays "
            "as it is; to compare them with new ones all the same type runtime.code=any"
        )


def changed_measures(folder: Path, made: Plan, trial: PlannedTrial) -> set[str]:
    """What a finished trial measured by other code than there is now; nothing if all its code is other code."""
    summary, now = read_summary(folder), made.arms[trial.arm]
    if summary is None or summary.code != now.code:
        return set()
    then = declared_measures(folder)
    return {name for name, code in now.measure_code.items() if name in then and then[name].get("code") != code}


def reopen_for_missing_measures(results: Path, made: Plan, wish: str) -> None:
    """Finished trials that lack a measure of their arm, or have it by code that has changed since, are run again if
    `wish` is `again`; what they left is kept.

    Diagnostics change no number, so that a trial is the same again, with more columns.
    """
    for trial in made.trials if wish == "again" else []:
        folder = trial_folder(results, trial.id)
        done = read_summary(folder) is not None
        lacking = done and set(made.arms[trial.arm].measures) - set(history_columns(folder))
        if (lacking or changed_measures(folder, made, trial)) and (lease := acquire(folder)) is not None:
            before = read_config(folder)["diagnostic"]
            trial.config["diagnostic"] = before | trial.config["diagnostic"]  # no other study loses what it measured
            set_attempt_aside(lease)
            lease.release()


def damaged_trials_note(results: Path, made: Plan) -> str:
    """A line per trial that was complete and whose record is damaged, so that it is trained again; else nothing."""
    damages = {trial.id: trial_damage(trial_folder(results, trial.id)) for trial in made.trials}
    lines = [f"trial {id} is set aside and trained again: {damage}" for id, damage in damages.items() if damage]
    return "\n".join(lines)


def missing_measures_note(results: Path, made: Plan) -> str:
    """A line if finished trials lack endpoints of the study, since another asked for other measures; else nothing."""
    done = {trial.id: made.arms[trial.arm] for trial in made.trials if read_summary(trial_folder(results, trial.id))}
    asked = {id: arm.measures.keys() & made.study["endpoints"] for id, arm in done.items()}
    lacking = {id: wanted - set(history_columns(trial_folder(results, id))) for id, wanted in asked.items() if wanted}
    names = ", ".join(sorted(set().union(*lacking.values())))
    count = sum(map(bool, lacking.values()))
    how = "which runtime.unmeasured=again would run again; without, these count in no number of it"
    return f"{count} of the finished trials did not measure {names}, {how}" if count else ""
