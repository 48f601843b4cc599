"""MLflow's store of a results folder."""

from pathlib import Path

from analysis.record.layout import DATABASE


def default_store(results: Path) -> str:
    """The SQLite file in a results folder, as MLflow names it."""
    return f"sqlite:///{results.absolute() / DATABASE}"


def refuse_file_store(uri: str) -> None:
    """Raises ValueError for a folder of files, which MLflow does not write any more."""
    if "://" not in uri or uri.startswith("file:"):
        raise ValueError(
            f"runtime.tracking_uri={uri} is a folder, and MLflow writes none any more; leave it out for SQLite in the "
            "results folder, or name a database, sqlite:////PATH/mlflow.db, or a server, http://HOST:5000"
        )
