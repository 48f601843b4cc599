"""Show studies in MLflow that it missed: `knockout sync`, where compute nodes cannot reach it, or it was down."""

import argparse
from pathlib import Path

from analysis.results import found
from experiments.mirror import alone, keep_up, refuse_folder, store_of


def main(words: list[str]) -> None:
    """`knockout sync [STUDY …]`. Raises ValueError for a study there is not, and for what could not be sent."""
    parser = argparse.ArgumentParser("knockout sync", description="Bring MLflow up to date with a results folder.")
    parser.add_argument("studies", nargs="*", help="which (default: all)")
    parser.add_argument("--results", default="results", type=Path, help="the results folder (default: results)")
    parser.add_argument("--uri", help="MLflow's address (default: SQLite in the results folder)")
    given = parser.parse_args(words)
    uri = given.uri or store_of(given.results)
    refuse_folder(uri)
    failed: list[str] = []
    for name in given.studies or sorted(path.name for path in (given.results / "studies").glob("*/")):
        home = found(given.results, name)
        with alone(home, lambda: True) as mine:
            shown = mine and keep_up(home, uri, lambda: True, (home / "effects.csv").exists, lambda: True)
        if shown is False:
            failed.append(name)
        else:
            print(f"{name}: {'in' if mine else 'being shown by another command in'} {uri}")
    if failed:
        raise ValueError(f"not in {uri}: {', '.join(failed)}")
