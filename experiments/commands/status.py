"""How a study stands, seen from anywhere: `knockout status`."""

import time
from collections import Counter
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path

from rich.console import Console
from rich.table import Table

from analysis.record.files import DamagedFile
from analysis.record.layout import results_of, trial_folder
from analysis.record.study_file import find_study, read_study, study_names
from analysis.record.summary import COMPLETE, TrialSummary, read_summary, trial_damage
from experiments.commands.arguments import command_parser
from experiments.lifecycle.lease import current_holder
from experiments.lifecycle.state import STATES, failure_text, trial_state
from experiments.lifecycle.terminal import printable


def status(words: list[str]) -> None:
    """`knockout status [STUDY …]`. Raises FileNotFoundError for a study there is not.

    A study whose file is damaged is named, and the others are shown; the status is 1 then.
    """
    parser = command_parser("status", "How studies stand.")
    parser.add_argument("studies", nargs="*", help="which (default: all)")
    given = parser.parse_args(words)
    console = Console(highlight=False, soft_wrap=True, markup=False, emoji=False)
    damages = []
    for name in given.studies or study_names(given.results):
        try:
            for line in status_lines(find_study(given.results, name)):
                console.print(printable(line) if isinstance(line, str) else line)
        except DamagedFile as damage:
            damages.append(str(damage))
    if damages:
        raise ValueError("\n".join(damages))


def status_lines(home: Path) -> Iterable[Table | str]:
    """A study's arms with the states of their trials, who trains now, what failed and why, and the time to go."""
    study, results = read_study(home), results_of(home)
    states = {trial.id: trial_state(trial_folder(results, trial.id)) for trial in study.trials}
    counts = Counter(states.values())
    yield f"{study.name}: {len(states)} trials, " + ", ".join(f"{counts[s]} {s}" for s in STATES)
    table = Table("arm", *STATES, box=None, header_style="none")
    for arm in study.arms:
        own = Counter(states[trial.id] for trial in study.trials if trial.arm == arm)
        table.add_row(printable(arm), *(str(own[s] or "–") for s in STATES))
    yield table
    for trial in study.trials:
        folder, where = trial_folder(results, trial.id), f"{trial.arm} · seed {trial.seed}"
        if states[trial.id] == "running":
            held = current_holder(folder)
            yield f"  running: {where}, by process {held.process} on {held.host}" if held else f"  running: {where}"
        if states[trial.id] == "failed":
            yield f"  failed: {where}: {failure_text(folder)}"
        if states[trial.id] == "damaged":
            yield f"  damaged: {where}: {trial_damage(folder)}"
    left = sum(counts[s] for s in STATES if s not in COMPLETE)
    if left:
        yield _time_left_text(
            [read_summary(trial_folder(results, id)) for id in states], left, max(1, counts["running"])
        )


def _time_left_text(summaries: Iterable[TrialSummary | None], left: int, at_once: int) -> str:
    spent = [summary.seconds for summary in summaries if summary]
    if not spent:
        return "time to go: known once a trial has finished"
    each = sum(spent) / len(spent)
    end = time.strftime("%H:%M", time.localtime(time.time() + each * left / at_once))
    return f"about {timedelta(seconds=round(each * left / at_once))} to go with {at_once} at a time, until {end}"
