"""What a command would run, what that costs, and which effects it could detect."""

from collections.abc import Collection, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

from rich.table import Table

from analysis.findings.cautions import cautions
from analysis.findings.coverage import StudyCoverage
from analysis.record.files import DamagedFile, read_csv_rows
from analysis.record.layout import EFFECTS, study_folder
from analysis.record.study_file import ArmRecord
from experiments.launch.devices import device_pool
from experiments.lifecycle.terminal import printable
from experiments.study.plan import Plan

TIMED_STEPS = 4  # steps of each arm


SHARES = ("solved", "diverged")  # endpoints of 0 and 1


def arm_table(made: Plan, missing: Collection[str], seconds: Mapping[str, float]) -> Table:
    """A row an arm."""
    table = Table("arm", "parameters", "FLOPs a token", "finished", "to train", "ms a step", box=None)
    for label, arm in made.arms.items():
        ids = {trial.id for trial in made.trials if trial.arm == label}
        pace = f"{1000 * seconds[label]:.1f}" if label in seconds else "–"
        left = len(ids & set(missing))
        counts = (str(len(ids) - left), str(left))
        table.add_row(printable(label), f"{arm.parameters:,}", f"{arm.flops:.3g}", *counts, pace)
    return table


def device_hours(
    made: Plan, missing: Mapping[str, str], seconds: Mapping[str, float], runtime: Mapping[str, Any]
) -> str:
    """Device-hours of training, validation not counted, and how long they take here."""
    if not missing:
        return "nothing to train"
    if not set(missing.values()) <= set(seconds):
        return "device-hours: unknown without a few timed steps (runtime.smoke)"
    trainers = {label: made.arms[label].config["trainer"] for label in missing.values()}
    spent = [seconds[a] * trainers[a]["max_steps"] * trainers[a]["devices"] for a in missing.values()]
    devices = device_pool(list(trainers.values()), runtime)
    places = min(devices.trials, devices.free.total(), len(missing))
    took = timedelta(seconds=round(sum(spent) / places))
    return f"{sum(spent) / 3600:.2g} device-hours of training; about {took} with {places} at a time"


def cautions_text(made: Plan) -> str:
    """What could not be concluded from the study, whatever comes out: in time for it to be given what it lacks."""
    arms = {label: ArmRecord(levels=made.levels[label], **arm.record()) for label, arm in made.arms.items()}
    measured = {name for arm in made.arms.values() for name in arm.measures}
    found = cautions(StudyCoverage.of(arms, made.study["tune"], made.study["endpoints"], measured))
    return "\n".join(["what this study would not show:", *(f"  {line}" for line in found)]) if found else ""


def comparisons(made: Plan) -> int:
    """How many comparisons p-values will be corrected for."""
    return max(1, len(made.arms) - 1) * len(made.study["endpoints"])


def exact_test_note(made: Plan) -> str:
    """Whether endpoints of 0 and 1, which have exact tests only, could be decided by so many seeds."""
    from analysis.statistics.power import pairs_for_exact

    shares, family = [name for name in made.study["endpoints"] if name in SHARES], comparisons(made)
    fewest = pairs_for_exact(0.05 / family)
    if not shares or len(made.seeds) >= fewest:
        return ""
    return f"{', '.join(shares)}: exact tests of {family} rows decide nothing with fewer than {fewest} seeds"


def detectable_effects_text(made: Plan, results: Path) -> str:
    """The smallest effects that the seeds could see, by the spread that finished trials of the study have shown."""
    from analysis.statistics.power import detectable  # scipy takes a second to load

    pairs, file = len(made.seeds), study_folder(results, made.name) / EFFECTS
    if pairs < 2:
        return "one seed sees nothing: differences have no spread; ask for more with study.seeds"
    seen = detectable(pairs, 0.05 / comparisons(made))
    title = f"{pairs} seeds see, at power 0.8 after correction, {seen:.2f} standard deviations of paired differences"
    if not file.exists():
        return f"{title}; in units, once two seeds have finished"
    try:
        rows = [
            row for row in read_csv_rows(file, "sd_of_differences", "low") if row["sd_of_differences"] and row["low"]
        ]
    except DamagedFile as damage:
        return f"{title}; the spread that trials have shown is unknown: {damage}"
    lines = [f"  {r['arm']}, {r['endpoint']}: {seen * float(r['sd_of_differences']):.3g} {r['unit']}" for r in rows]
    return "\n".join([f"{title}:", *lines])
