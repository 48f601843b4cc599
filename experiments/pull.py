"""A study out of an MLflow server, where no results folder is at hand: `knockout pull STUDY --uri http://HOST:5000`."""

import argparse
import logging
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from components.registry import unknown
from experiments.mirror import refuse_folder, store_of

if TYPE_CHECKING:
    from mlflow import MlflowClient


def main(words: list[str]) -> None:
    """Write what MLflow knows of a study's trials into a table, a row a step, for `analysis.from_frame`.

    MLflow is sent some points of long curves only, and the last of each; the results folder has them all.
    Raises ValueError if the server has no such study.
    """
    parser = argparse.ArgumentParser("knockout pull", description="A study's histories out of an MLflow server.")
    parser.add_argument("study", help="its name: an experiment there")
    parser.add_argument("--uri", help="MLflow's address (default: SQLite in the results folder)")
    parser.add_argument("--results", default="results", type=Path, help="the results folder (default: results)")
    parser.add_argument("--to", type=Path, help="the table (default: STUDY.parquet)")
    given = parser.parse_args(words)
    uri = given.uri or store_of(given.results)
    refuse_folder(uri)
    logging.disable(logging.WARNING)
    if uri.startswith("sqlite:///") and not Path(uri.removeprefix("sqlite:///")).exists():  # MLflow would make it
        raise FileNotFoundError(f"there is no database {uri}")
    from mlflow import MlflowClient
    from mlflow.exceptions import MlflowException

    try:
        table = pulled(MlflowClient(tracking_uri=uri), given.study)
    except MlflowException as error:
        raise ValueError(f"MLflow at {uri}: {error}") from error
    path = given.to or Path(f"{Path(given.study).name}.parquet")
    pq.write_table(table, path)
    trials = table.group_by(["arm", "seed"]).aggregate([])
    print(f"{len(trials)} trials of {len(trials['arm'].unique())} arms, {len(table)} rows: {path.absolute()}")
    print(f'analysis.from_frame(pandas.read_parquet("{path}"), endpoints={{"val/loss": "final"}}).effects()')


def pulled(client: "MlflowClient", study: str) -> pa.Table:
    """arm, seed, step, then a column for each measure by its own name."""
    experiment = client.get_experiment_by_name(study)
    if experiment is None:
        raise ValueError(unknown("study", study, [each.name for each in client.search_experiments()]))
    rows = [row for run in _trials(client, experiment.experiment_id) for row in _rows(client, run)]
    if not rows:
        raise ValueError(f"the study {study!r} has no trials there")
    names = dict.fromkeys(name for row in rows for name in row)
    table = pa.table({name: [row.get(name) for row in rows] for name in names})
    return table.sort_by([(name, "ascending") for name in ("arm", "seed", "step")])


def _trials(client: "MlflowClient", experiment: str) -> Iterator[Any]:
    token = None
    while True:
        page = client.search_runs([experiment], max_results=1000, page_token=token)
        yield from (run for run in page if "seed" in run.data.tags)
        token = page.token
        if not token:
            return


def _rows(client: "MlflowClient", run: Any) -> Iterator[dict[str, Any]]:
    """A trial's rows, a step each."""
    steps: dict[int, dict[str, float]] = {}
    for name in run.data.metrics:
        for metric in client.get_metric_history(run.info.run_id, name):
            steps.setdefault(metric.step, {})[spelt(name)] = metric.value
    tags = run.data.tags
    yield from ({"arm": tags["arm"], "seed": int(tags["seed"]), "step": step, **steps[step]} for step in sorted(steps))


def spelt(name: str) -> str:
    """A measure's own name, out of the characters that MLflow takes (`experiments.sent.legal`).

    >>> spelt("effect/norm:3d:rmsnorm/val/loss")
    'effect/norm=rmsnorm/val/loss'
    """
    return re.sub(r":([0-9a-f]{1,6}):", lambda found: chr(int(found[1], 16)), name)
