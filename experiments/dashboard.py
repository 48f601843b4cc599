"""MLflow's own page, on the store of a results folder."""

import argparse
import platform
import socket
import subprocess
import sys
from pathlib import Path

from experiments.mirror import store_of

TRAINING = "/#/experiments?workflowType=machine_learning"  # MLflow's pages begin with language agents otherwise


def main(words: list[str]) -> None:
    """`knockout ui`: serve until interrupted. Raises FileNotFoundError if the folder has no store."""
    parser = argparse.ArgumentParser("knockout ui", description="Open MLflow on a results folder.")
    parser.add_argument("--results", default="results", type=Path, help="the results folder (default: results)")
    parser.add_argument(
        "--host", default="127.0.0.1", help="what to listen on; 0.0.0.0 is every network (default: here)"
    )
    parser.add_argument("--port", default="5000", help="the port to serve on (default: 5000)")
    given = parser.parse_args(words)
    if not (given.results / "mlflow.db").exists():
        where = given.results.absolute()
        raise FileNotFoundError(f"{where} holds no mlflow.db; run a study there, or name its folder: --results FOLDER")
    own = given.host == "127.0.0.1"
    address = f"http://{given.host if own else platform.node()}:{given.port}{TRAINING}"
    print(f"MLflow on {address} (Ctrl-C ends it)", flush=True)
    store = ["--backend-store-uri", store_of(given.results), "--host", given.host, "--port", given.port]
    allowed = [] if own else ["--allowed-hosts", ",".join(f"{name}:{given.port}" for name in names(given.host))]
    raise SystemExit(subprocess.run([sys.executable, "-m", "mlflow", "ui", *store, *allowed], check=False).returncode)


def names(host: str) -> list[str]:
    """What this machine may be called in an address: MLflow answers to no other name."""
    here = {"localhost", "127.0.0.1", host, platform.node(), socket.getfqdn()}
    return sorted(here | {"10.*", "172.*", "192.168.*"})
