"""Run a study again from its folder alone, for what is not finished: `knockout retry STUDY`."""

import argparse
import shlex
from pathlib import Path

from analysis.results import found, read_study


def main(words: list[str]) -> None:
    """`knockout retry STUDY`: the command that made it. Raises FileNotFoundError for a study there is not."""
    parser = argparse.ArgumentParser("knockout retry", description="Run what a study has not finished.")
    parser.add_argument("study", help="its name")
    parser.add_argument("--results", default="results", type=Path, help="the results folder (default: results)")
    given = parser.parse_args(words)
    command = shlex.split(read_study(found(given.results, given.study))["command"])[2:]
    kept = [word for word in command if not word.startswith(("runtime.results=", "runtime.failed="))]
    from experiments.axes import word
    from experiments.run import main as run

    print(f"knockout run {shlex.join(kept)}", flush=True)
    run([*kept, f"runtime.results={word(str(given.results))}"])
