"""Where everything lies in a results folder: `trials/<id>/` per trial and `studies/<name>/` per study."""

import hashlib
import re
import tempfile
from pathlib import Path

TRIALS, STUDIES, ARMS = "trials", "studies", "arms"  # the folders of a results folder; `arms` is a cache
CONFIG, SUMMARY, LOG = "config.yaml", "summary.json", "trial.log"  # of a trial
HISTORY, STREAMS = "history.parquet", "history*.arrow"  # of a complete trial; of each attempt that runs
OUTCOME = "outcome.json"  # how an attempt ended
CHECKPOINT, TIMING = "checkpoint.pt", "timing.json"  # of a trial that can continue; of one whose first steps are timed
WEIGHTS, BEST = "weights.pt", "best.pt"  # the last weights, and those of the lowest validation loss
ATTENTION, ATTEMPTS = "attention", "attempts"  # folders of a trial: its attention maps, what earlier attempts left
STUDY, PAGE, MARKDOWN = "study.yaml", "report.html", "report.md"  # of a study
EFFECTS, VERDICTS, MIRRORED = "effects.csv", "verdicts.txt", "mirrored.txt"  # of a study that has a report
DATABASE, ARTIFACTS = "mlflow.db", "mlartifacts"  # of MLflow, beside the trials and the studies
REPORT_FILES = (PAGE, MARKDOWN, EFFECTS, VERDICTS, MIRRORED)


def trial_folder(results: str | Path, trial: str) -> Path:
    """The folder of the trial with this id."""
    return Path(results, TRIALS, trial)


def stream_path(folder: Path, attempt: str = "") -> Path:
    """The stream that one attempt at a trial writes, so that no two attempts ever write the same file.

    >>> stream_path(Path("t"), "4f2a").name, stream_path(Path("t")).name
    ('history.4f2a.arrow', 'history.arrow')
    """
    return folder / (f"history.{attempt}.arrow" if attempt else "history.arrow")


def study_folder(results: str | Path, study: str) -> Path:
    """The folder of the study with this name, whatever characters the name has."""
    return Path(results, STUDIES, folder_name_for(study))


def results_of(study_home: Path) -> Path:
    """The results folder that a study's folder lies in."""
    return study_home.parents[1]


def results_around(trial: Path) -> Path:
    """The results folder that a trial's folder lies in; the trial's folder alone where it lies in none."""
    return trial.parents[1] if trial.absolute().parent.name == TRIALS else trial


def ensure_results_folder(root: Path) -> Path:
    """The results folder, created if necessary. Raises PermissionError if nothing can be written there."""
    try:
        (root / TRIALS).mkdir(parents=True, exist_ok=True)
        (root / STUDIES).mkdir(exist_ok=True)
        with tempfile.TemporaryFile(dir=root / TRIALS):
            return root.absolute()
    except OSError as error:
        reason = f"runtime.results={root} cannot be written ({error.strerror})"
        raise PermissionError(f"{reason}; name a folder that can: runtime.results=FOLDER") from error


def folder_name_for(name: str) -> str:
    """A file name for any name: the name itself where it can be one, otherwise its safe characters and a digest.

    >>> folder_name_for("norm"), folder_name_for("a/b")
    ('norm', 'a_b-c14cdd')
    """
    kept = re.sub(r"[^\w.\- ]", "_", name).strip(". ")[:80]
    return kept if kept == name else f"{kept}-{hashlib.sha256(name.encode()).hexdigest()[:6]}"
