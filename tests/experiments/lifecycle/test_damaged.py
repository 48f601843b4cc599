"""A damaged file of a results folder is named, no number is taken from it, and the rest goes on.

What every command reads is read by a handful of functions, which meet every file × every damage. Whole commands meet
a subset that covers each file, each damage and each command: they do the same for all damages, as all are one error.
"""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import yaml

from analysis.record.attention_maps import read_maps
from analysis.record.config_file import read_config
from analysis.record.files import DamagedFile, read_csv_rows
from analysis.record.history import declared_measures, read_history
from analysis.record.outcome import Outcome, read_outcome, write_outcome
from analysis.record.study_file import read_study
from analysis.record.summary import read_summary, trial_damage
from analysis.tables.results import read_results
from experiments.lifecycle.lease import current_holder
from experiments.lifecycle.state import trial_state
from experiments.trial.checkpoint import Checkpoint, read_weights
from tests.conftest import QUICK, called

SETTINGS = ("seed=range(2)", "runtime.smoke=0", *QUICK)
WORDS = ("norm=layernorm,rmsnorm", "study.name=first", *SETTINGS)
OFF = "runtime.tracking_uri=none"


def empty(path: Path) -> None:
    path.write_bytes(b"")


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def garbage(path: Path) -> None:
    path.write_bytes(np.random.default_rng(0).bytes(300))


def folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def another_shape(path: Path) -> None:
    """Valid JSON and YAML, a table of another shape."""
    path.write_text('["another", "shape"]\n')


DAMAGES = {damage.__name__: damage for damage in (empty, cut, garbage, folder, another_shape)}
each_damage = pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)


@pytest.fixture(scope="session")
def trained_studies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two studies of 4 trials, `first` and `second`, each with its report."""
    home = tmp_path_factory.mktemp("trained")
    for name, words in (("first", WORDS), ("second", ("norm=layernorm,none", "study.name=second", *SETTINGS))):
        ran = called(home, "run", *words, OFF)
        assert ran.returncode == 0, (name, ran.stdout, ran.stderr)
    return home


@pytest.fixture
def results(trained_studies: Path, tmp_path: Path) -> Path:
    """A copy to damage."""
    return Path(shutil.copytree(trained_studies / "results", tmp_path / "results"))


def trial_of(results: Path, arm: str = "norm=rmsnorm", seed: int = 0) -> Path:
    """A trial that only the first study has."""
    rows = read_study(results / "studies" / "first").trials
    return results / "trials" / next(row.id for row in rows if (row.arm, row.seed) == (arm, seed))


def run_commands(root: Path, *commands: tuple[str, ...]) -> str:
    """What commands print, none of which ends in a traceback."""
    printed = ""
    for words in commands:
        ran = called(root, *words)
        printed += ran.stdout + ran.stderr
        assert "Traceback" not in printed, (words, printed)
    return printed


READERS: dict[str, Callable[[Path], object]] = {
    "config.yaml": lambda path: read_config(path.parent),
    "outcome.json": lambda path: read_outcome(path.parent),
    "history.parquet": lambda path: (read_history(path.parent), declared_measures(path.parent)),
    "checkpoint.pt": lambda path: Checkpoint.read(path.parent, ""),
    "weights.pt": read_weights,
    "0.0.npz": read_maps,
    "study.yaml": lambda path: read_study(path.parent),
    "effects.csv": lambda path: read_csv_rows(path, "arm", "sd_of_differences"),
}


@each_damage
@pytest.mark.parametrize("name", READERS)
def test_g3_every_reader_names_a_damaged_file(results: Path, name: str, damage: Callable[[Path], None]) -> None:
    trial = trial_of(results)
    path = {"study.yaml": results / "studies" / "first", "effects.csv": results / "studies" / "first"}.get(name, trial)
    path /= name
    if not path.exists():
        shutil.copy(trial / "weights.pt", path)
    if name == "outcome.json":
        path.unlink()
        write_outcome(trial, Outcome("failed", 3, "RuntimeError: bad luck"))
    damage(path)
    with pytest.raises(DamagedFile, match=name):
        READERS[name](path)


@pytest.mark.parametrize(
    ("name", "damage"),
    [("summary.json", empty), ("summary.json", another_shape), ("history.parquet", cut), ("history.parquet", folder)],
)
def test_g3_a_trial_whose_record_is_damaged_is_damaged_everywhere(
    results: Path, name: str, damage: Callable[[Path], None]
) -> None:
    trial = trial_of(results)
    damage(trial / name)
    assert read_summary(trial) is None and trial_state(trial) == "damaged"
    assert str(trial / name) in trial_damage(trial)
    study = read_results(results / "studies" / "first")
    assert study.trials.set_index("trial").status.to_dict()[trial.name] == "damaged"
    assert study.endpoints["val/loss"].isna().sum().sum() == 1
    printed = run_commands(results.parent, ("status",))
    assert "1 damaged" in printed and str(Path("results", "trials", trial.name, name)) in printed
    assert "second: 4 trials, 4 finished" in printed


def test_g1_a_history_that_is_shorter_than_its_summary_says_is_damaged(results: Path) -> None:
    trial = trial_of(results)
    summary = json.loads((trial / "summary.json").read_text())
    (trial / "summary.json").write_text(json.dumps(summary | {"steps": 14000}))
    sentence = "it ends at step 6, but summary.json says step 14000"
    assert sentence in trial_damage(trial)
    printed = run_commands(results.parent, ("status", "first"), ("report", "first"))
    page = (results / "studies" / "first" / "report.md").read_text()
    assert sentence in printed and "its record is damaged, so it counts in no number here" in page
    verified = called(results.parent, "verify", "first", "--trials", "1")
    assert verified.returncode == 1 and sentence in verified.stdout
    ran = called(results.parent, "run", *WORDS, OFF)
    assert ran.returncode == 0 and "1 to train" in ran.stdout, ran.stdout + ran.stderr
    assert f"trial {trial.name} is set aside and trained again" in ran.stdout and sentence in ran.stdout
    assert trial_state(trial) == "finished" and (trial / "attempts" / "0" / "history.parquet").exists()


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("study.yaml", cut), ("study.yaml", folder), ("effects.csv", cut), ("verdicts.txt", garbage),
        ("mirrored.txt", garbage), ("report.html", empty),
    ],
)  # fmt: skip
def test_g3_a_damaged_file_of_one_study_stops_no_other(
    results: Path, name: str, damage: Callable[[Path], None]
) -> None:
    path = results / "studies" / "first" / name
    path.touch()
    whole = path.read_text()
    damage(path)
    planned = [("plan", *WORDS, OFF)] if name in ("study.yaml", "effects.csv") else []
    printed = run_commands(results.parent, ("status",), *planned)
    assert "second: 4 trials, 4 finished" in printed
    if name == "study.yaml":
        reported = run_commands(results.parent, ("report",), ("compare", "first", "second"), ("verify", "first"))
        assert all(str(Path("results", "studies", "first", name)) in text for text in (printed, reported))
    if damage is folder:
        return
    ran = called(results.parent, "run", *WORDS, OFF)
    assert ran.returncode == 0 and "0 to train" in ran.stdout, ran.stdout + ran.stderr
    if name not in ("mirrored.txt", "study.yaml"):
        assert path.read_text() == whole, "a file that follows from others is made again"
    if name == "study.yaml":
        assert "perhaps anything" in yaml.safe_load(path.read_text())["changed"][0]


@pytest.mark.parametrize(("name", "damage"), [("config.yaml", another_shape), ("weights.pt", cut)])
def test_g3_what_a_trained_model_is_asked_names_the_file_that_is_damaged(
    results: Path, name: str, damage: Callable[[Path], None]
) -> None:
    trial = trial_of(results)
    damage(trial / name)
    asked = (("probe", trial.name), ("sample", trial.name, "--prompt", "the"))
    for words in asked:
        assert str(Path(trial.name, name)) in run_commands(results.parent, words)
    assert "4 finished" in run_commands(results.parent, ("status", "first"))


@pytest.mark.parametrize("damage", [cut])
def test_g3_a_damaged_checkpoint_is_set_aside_and_the_trial_starts_anew(
    results: Path, damage: Callable[[Path], None]
) -> None:
    trial = trial_of(results)
    history = (trial / "history.parquet").read_bytes()
    for name in ("summary.json", "history.parquet"):
        (trial / name).unlink()
    shutil.copy(trial / "weights.pt", trial / "checkpoint.pt")
    damage(trial / "checkpoint.pt")
    ran = called(results.parent, "run", *WORDS, OFF)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "checkpoint.pt is damaged: " in ran.stdout and "the trial started anew" in ran.stdout
    assert (trial / "history.parquet").read_bytes() == history
    assert list(trial.glob("attempts/*/checkpoint.pt"))


@pytest.mark.parametrize("damage", [empty, another_shape, folder])
def test_g3_damaged_caches_are_made_again(results: Path, damage: Callable[[Path], None]) -> None:
    before = {path: path.read_bytes() for path in (results / "arms").glob("*.json")}
    assert before
    for path in before:
        damage(path)
    printed = run_commands(results.parent, ("plan", *WORDS, OFF))
    assert "damaged" not in printed
    assert all(path.is_dir() or path.read_bytes() == content for path, content in before.items())


@each_damage
def test_g3_damaged_streams_leases_and_outcomes_stop_nothing(results: Path, damage: Callable[[Path], None]) -> None:
    trial = trial_of(results)
    for name in ("summary.json", "history.parquet"):
        (trial / name).unlink()
    for name in ("history.4f.arrow", "outcome.json", "lease.0"):
        path = trial / name
        path.write_bytes(b"something of some length")
        damage(path)
    read_history(trial)
    current_holder(trial)
    assert trial_state(trial) in ("running", "failed")
    if damage is not garbage:
        return
    printed = run_commands(results.parent, ("status",), ("report",))
    assert "second: 4 trials, 4 finished" in printed
