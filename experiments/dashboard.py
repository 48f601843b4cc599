"""MLflow's own page, on the store of a results folder."""

import argparse
import subprocess
import sys
from pathlib import Path

from experiments.mirror import store_of


def main(words: list[str]) -> None:
    """`knockout ui`: serve until interrupted. Raises FileNotFoundError if the folder has no store."""
    parser = argparse.ArgumentParser("knockout ui", description="Open MLflow on a results folder.")
    parser.add_argument("--results", default="results", type=Path, help="the results folder (default: results)")
    parser.add_argument("--port", default="5000", help="the port to serve on (default: 5000)")
    given = parser.parse_args(words)
    if not (given.results / "mlflow.db").exists():
        where = given.results.absolute()
        raise FileNotFoundError(f"{where} holds no mlflow.db; run a study there, or name its folder: --results FOLDER")
    print(f"MLflow on http://127.0.0.1:{given.port} (Ctrl-C ends it)", flush=True)
    store = ["--backend-store-uri", store_of(given.results), "--port", given.port]
    raise SystemExit(subprocess.run([sys.executable, "-m", "mlflow", "ui", *store], check=False).returncode)
