"""What a command would run, and what that takes and could see: `knockout plan` with the words of `knockout run`."""

import csv
from collections.abc import Collection, Mapping
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

from hydra.core.override_parser.overrides_parser import OverridesParser
from rich.console import Console
from rich.table import Table

from analysis.cautions import cautions
from analysis.compared import Compared
from experiments.folder import safe
from experiments.pool import pool
from experiments.prepare import refuse_other_code, unmeasured
from experiments.refuse import refuse_crowded
from experiments.smoke import crowding, smoke
from experiments.study import Plan, plan
from experiments.sweep import KnockoutSweeper, announcement, say
from experiments.tune import tuning

TIMED = 4  # steps of each arm
SHARES = ("solved", "diverged")  # endpoints of 0 and 1


def main(words: list[str]) -> None:
    """Plan what `knockout run` would do with these words, and train nothing."""
    from experiments.run import main as run

    run([*words, "hydra/sweeper=knockout_plan"])


class PlanSweeper(KnockoutSweeper):
    """Says what the sweep would be."""

    def sweep(self, arguments: list[str]) -> None:
        """Plan, take a few steps of every arm that has something to train, print."""
        overrides = OverridesParser.create(config_loader=self.loader).parse_overrides(arguments)
        compose = partial(self.loader.load_sweep_config, self.settings)
        made = plan(overrides, compose)
        tried_first = tuning(overrides, compose, made)
        if tried_first is not None:
            say(f"first, to let each arm choose: {announcement(tried_first, len(tried_first.trials))}")
        runtime, results = self.settings.runtime, Path(self.settings.runtime.results)
        refuse_other_code(results, made, runtime.code)
        missing = {trial.id: trial.arm for trial in made.missing(results)}
        made.refuse_untrainable(missing.values())
        refuse_crowded(made.study, [made.arms[label] for label in missing.values()], runtime)
        say(made.study["question"])
        say(announcement(made, len(missing)))
        say("" if runtime.unmeasured == "again" else unmeasured(results, made))
        tried = smoke(made.arms, dict.fromkeys(missing.values()) if runtime.smoke else [], runtime, TIMED)
        Console(soft_wrap=True, highlight=False).print(_table(made, missing, tried.seconds))
        for label, reason in tried.errors.items():
            say(f"{label} fails within {TIMED} steps: {reason}")
        say(_hours(made, missing, tried.seconds, runtime))
        say(crowding(made.arms, tried, runtime))
        say(_sight(made, results))
        say(_exactly(made))
        say(_unproven(made))


def _table(made: Plan, missing: Collection[str], seconds: Mapping[str, float]) -> Table:
    """A row an arm."""
    table = Table("arm", "parameters", "FLOPs a token", "finished", "to train", "ms a step", box=None)
    for label, arm in made.arms.items():
        ids = {trial.id for trial in made.trials if trial.arm == label}
        pace = f"{1000 * seconds[label]:.1f}" if label in seconds else "–"
        left = len(ids & set(missing))
        counts = (str(len(ids) - left), str(left))
        table.add_row(label, f"{arm.parameters:,}", f"{arm.flops:.3g}", *counts, pace)
    return table


def _hours(made: Plan, missing: Mapping[str, str], seconds: Mapping[str, float], runtime: Mapping[str, Any]) -> str:
    """Device-hours of training, validation not counted, and how long they take here."""
    if not missing:
        return "nothing to train"
    if not set(missing.values()) <= set(seconds):
        return "device-hours: unknown without a few timed steps (runtime.smoke)"
    trainers = {label: made.arms[label].config["trainer"] for label in missing.values()}
    spent = [seconds[a] * trainers[a]["max_steps"] * trainers[a]["devices"] for a in missing.values()]
    devices = pool(list(trainers.values()), runtime)
    places = min(devices.trials, devices.free.total(), len(missing))
    took = timedelta(seconds=round(sum(spent) / places))
    return f"{sum(spent) / 3600:.2g} device-hours of training; about {took} with {places} at a time"


def _unproven(made: Plan) -> str:
    """What could not be concluded from the study, whatever comes out: in time for it to be given what it lacks."""
    arms = {label: {"levels": made.levels[label], **arm.described()} for label, arm in made.arms.items()}
    measured = {name for arm in made.arms.values() for name in arm.measures}
    found = cautions(Compared.of(made.study | {"arms": arms}, measured))
    return "\n".join(["what must not be concluded from it:", *(f"  {line}" for line in found)]) if found else ""


def _family(made: Plan) -> int:
    """How many comparisons p-values will be corrected for."""
    return max(1, len(made.arms) - 1) * len(made.study["endpoints"])


def _exactly(made: Plan) -> str:
    """Whether endpoints of 0 and 1, which have exact tests only, could be decided by so many seeds."""
    from analysis.power import pairs_for_exact

    shares, family = [name for name in made.study["endpoints"] if name in SHARES], _family(made)
    fewest = pairs_for_exact(0.05 / family)
    if not shares or len(made.seeds) >= fewest:
        return ""
    return f"{', '.join(shares)}: exact tests of {family} rows decide nothing with fewer than {fewest} seeds"


def _sight(made: Plan, results: Path) -> str:
    """The smallest effects that the seeds could see, by the spread that finished trials of the study have shown."""
    from analysis.power import detectable  # scipy takes a second to load

    pairs, file = len(made.seeds), results / "studies" / safe(made.name) / "effects.csv"
    if pairs < 2:
        return "one seed sees nothing: differences have no spread; ask for more with study.seeds"
    seen = detectable(pairs, 0.05 / _family(made))
    title = f"{pairs} seeds see, at power 0.8 after correction, {seen:.2f} standard deviations of paired differences"
    if not file.exists():
        return f"{title}; in units, once two seeds have finished"
    with file.open(encoding="utf-8") as rows:
        read = [row for row in csv.DictReader(rows) if row["deviation"] and row["low"]]
    lines = [f"  {r['arm']}, {r['endpoint']}: {seen * float(r['deviation']):.3g} {r['unit']}" for r in read]
    return "\n".join([f"{title}:", *lines])
