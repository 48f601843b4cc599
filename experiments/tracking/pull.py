"""A study's histories out of an MLflow server."""

import re
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
from mlflow import MlflowClient

from components.registry import unknown


def pull_study(client: "MlflowClient", study: str) -> pa.Table:
    """arm, seed, step, then a column for each measure by its own name."""
    experiment = client.get_experiment_by_name(study)
    if experiment is None:
        raise ValueError(unknown("study", study, [each.name for each in client.search_experiments()]))
    rows = [row for run in _trial_runs(client, experiment.experiment_id) for row in _run_rows(client, run)]
    if not rows:
        raise ValueError(f"the study {study!r} has no trials there")
    names = dict.fromkeys(name for row in rows for name in row)
    table = pa.table({name: [row.get(name) for row in rows] for name in names})
    return table.sort_by([(name, "ascending") for name in ("arm", "seed", "step")])


def _trial_runs(client: "MlflowClient", experiment: str) -> Iterator[Any]:
    token = None
    while True:
        page = client.search_runs([experiment], max_results=1000, page_token=token)
        yield from (run for run in page if "seed" in run.data.tags)
        token = page.token
        if not token:
            return


def _run_rows(client: "MlflowClient", run: Any) -> Iterator[dict[str, Any]]:
    """A trial's rows, a step each."""
    steps: dict[int, dict[str, float]] = {}
    for name in run.data.metrics:
        for metric in client.get_metric_history(run.info.run_id, name):
            steps.setdefault(metric.step, {})[measure_name(name)] = metric.value
    tags = run.data.tags
    yield from ({"arm": tags["arm"], "seed": int(tags["seed"]), "step": step, **steps[step]} for step in sorted(steps))


def measure_name(name: str) -> str:
    """A measure's own name, out of the characters that MLflow takes (`experiments.tracking.export.mlflow_name`).

    >>> measure_name("effect/norm:3d:rmsnorm/val/loss")
    'effect/norm=rmsnorm/val/loss'
    """
    return re.sub(r":([0-9a-f]{1,6}):", lambda found: chr(int(found[1], 16)), name)
