"""MLflow's commands: send, fetch, open."""

import logging
import platform
import socket
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
from mlflow import MlflowClient

from analysis.record.files import DamagedFile
from analysis.record.layout import DATABASE, EFFECTS, STUDIES
from analysis.record.study_file import find_study
from experiments.commands.arguments import command_parser
from experiments.lifecycle.terminal import echo
from experiments.tracking.mirror import exclusive_lease, mirror_study
from experiments.tracking.pull import pull_study
from experiments.tracking.store import default_store, refuse_file_store


def sync(words: list[str]) -> None:
    """`knockout sync [STUDY …]`. Raises ValueError for a study there is not, and for what could not be sent."""
    parser = command_parser("sync", "Bring MLflow up to date with a results folder.")
    parser.add_argument("studies", nargs="*", help="which (default: all)")
    parser.add_argument("--uri", help="MLflow's address (default: SQLite in the results folder)")
    given = parser.parse_args(words)
    uri = given.uri or default_store(given.results)
    refuse_file_store(uri)
    failed: list[str] = []
    for name in given.studies or sorted(path.name for path in (given.results / STUDIES).glob("*/")):
        home = find_study(given.results, name)
        try:
            refresh_report(home)
        except DamagedFile as damage:
            print(f"warning: {damage}", file=sys.stderr)
            failed.append(name)
            continue
        with exclusive_lease(home, lambda: True) as mine:
            shown = mine and mirror_study(home, uri, lambda: True, (home / EFFECTS).exists, lambda: True)
        if shown is False:
            failed.append(name)
        else:
            echo(f"{name}: {'in' if mine else 'being shown by another command in'} {uri}")
    if failed:
        raise ValueError(f"not in {uri}: {', '.join(failed)}")


def refresh_report(home: Path) -> None:
    """Write a study's page again if it has one, so that MLflow is sent effects of what the trials recorded.

    Raises DamagedFile.
    """
    from analysis.page.report import write_report  # imports pandas and seaborn, which takes a second

    if (home / EFFECTS).exists():
        write_report(home)


def pull(words: list[str]) -> None:
    """Write what MLflow knows of a study's trials into a table, a row a step, for `analysis.from_frame`.

    MLflow is sent some points of long curves only, and the last of each; the results folder has them all.
    Raises ValueError if the server has no such study.
    """
    parser = command_parser("pull", "A study's histories out of an MLflow server.")
    parser.add_argument("study", help="its name: an experiment there")
    parser.add_argument("--uri", help="MLflow's address (default: SQLite in the results folder)")
    parser.add_argument("--to", type=Path, help="the table (default: STUDY.parquet)")
    given = parser.parse_args(words)
    uri = given.uri or default_store(given.results)
    refuse_file_store(uri)
    logging.disable(logging.WARNING)
    if uri.startswith("sqlite:///") and not Path(uri.removeprefix("sqlite:///")).exists():  # MLflow would make it
        raise FileNotFoundError(f"there is no database {uri}")
    from mlflow.exceptions import MlflowException

    try:
        table = pull_study(MlflowClient(tracking_uri=uri), given.study)
    except MlflowException as error:
        raise ValueError(f"MLflow at {uri}: {error}") from error
    path = given.to or Path(f"{Path(given.study).name}.parquet")
    pq.write_table(table, path)
    trials = table.group_by(["arm", "seed"]).aggregate([])
    echo(f"{len(trials)} trials of {len(trials['arm'].unique())} arms, {len(table)} rows: {path.absolute()}")
    print(f'analysis.from_frame(pandas.read_parquet("{path}"), endpoints={{"val/loss": "final"}}).effects()')


TRAINING_VIEW = "/#/experiments?workflowType=machine_learning"  # MLflow's pages begin with language agents otherwise


def ui(words: list[str]) -> None:
    """`knockout ui`: serve until interrupted. Raises FileNotFoundError if the folder has no store."""
    parser = command_parser("ui", "Open MLflow on a results folder.")
    parser.add_argument(
        "--host", default="127.0.0.1", help="what to listen on; 0.0.0.0 is every network (default: here)"
    )
    parser.add_argument("--port", default="5000", help="the port to serve on (default: 5000)")
    given = parser.parse_args(words)
    if not (given.results / DATABASE).exists():
        where = given.results.absolute()
        raise FileNotFoundError(f"{where} holds no mlflow.db; run a study there, or name its folder: --results FOLDER")
    own = given.host == "127.0.0.1"
    address = f"http://{given.host if own else platform.node()}:{given.port}{TRAINING_VIEW}"
    print(f"MLflow on {address} (Ctrl-C ends it)", flush=True)
    store = ["--backend-store-uri", default_store(given.results), "--host", given.host, "--port", given.port]
    allowed = [] if own else ["--allowed-hosts", ",".join(f"{name}:{given.port}" for name in names(given.host))]
    raise SystemExit(subprocess.run([sys.executable, "-m", "mlflow", "ui", *store, *allowed], check=False).returncode)


def names(host: str) -> list[str]:
    """What this machine may be called in an address: MLflow answers to no other name."""
    here = {"localhost", "127.0.0.1", host, platform.node(), socket.getfqdn()}
    return sorted(here | {"10.*", "172.*", "192.168.*"})
