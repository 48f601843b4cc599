"""How a study stands, seen from anywhere: `knockout status`."""

import argparse
import time
from collections import Counter
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from analysis.results import found, names, read_study
from experiments.folder import LOG, finished
from experiments.lease import holder
from experiments.state import DONE, STATES, last_line, state


def main(words: list[str]) -> None:
    """`knockout status [STUDY …]`. Raises FileNotFoundError for a study there is not."""
    parser = argparse.ArgumentParser("knockout status", description="How studies stand.")
    parser.add_argument("studies", nargs="*", help="which (default: all)")
    parser.add_argument("--results", default="results", type=Path, help="the results folder (default: results)")
    given = parser.parse_args(words)
    console = Console(highlight=False, soft_wrap=True, markup=False)
    for name in given.studies or names(given.results):
        for line in told(found(given.results, name)):
            console.print(line)


def told(home: Path) -> Iterable[Table | str]:
    """A study's arms with the states of their trials, who trains now, what failed and why, and the time to go."""
    study, trials = read_study(home), home.parents[1] / "trials"
    states = {row["id"]: state(trials / row["id"]) for row in study["trials"]}
    counts = Counter(states.values())
    yield f"{study['name']}: {len(states)} trials, " + ", ".join(f"{counts[s]} {s}" for s in STATES)
    table = Table("arm", *STATES, box=None, header_style="none")
    for arm in study["arms"]:
        own = Counter(states[row["id"]] for row in study["trials"] if row["arm"] == arm)
        table.add_row(arm, *(str(own[s] or "–") for s in STATES))
    yield table
    for row in study["trials"]:
        folder, where = trials / row["id"], f"{row['arm']} · seed {row['seed']}"
        if states[row["id"]] == "running":
            held = holder(folder)
            yield f"  running: {where}, by process {held.process} on {held.host}" if held else f"  running: {where}"
        if states[row["id"]] == "failed":
            yield f"  failed: {where}: {last_line(folder) or 'killed without a word'} ({folder / LOG})"
    left = sum(counts[s] for s in STATES if s not in DONE)
    if left:
        yield _to_go([finished(trials / id) for id in states], left, max(1, counts["running"]))


def _to_go(summaries: Iterable[dict[str, Any] | None], left: int, at_once: int) -> str:
    spent = [summary["seconds"] for summary in summaries if summary]
    if not spent:
        return "time to go: known once a trial has finished"
    each = sum(spent) / len(spent)
    end = time.strftime("%H:%M", time.localtime(time.time() + each * left / at_once))
    return f"about {timedelta(seconds=round(each * left / at_once))} to go with {at_once} at a time, until {end}"
