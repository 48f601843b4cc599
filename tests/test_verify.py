"""Numbers that can be trusted: trained again, compared, listed."""

from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from analysis import from_frame, load
from experiments.verify import Difference, first_difference
from tests.conftest import QUICK, called, typed

WORDS = ("run", "norm=layernorm,rmsnorm", *QUICK, "runtime.tracking_uri=none")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("verified")
    for name, rate in (("first", "3e-3"), ("second", "1e-3")):
        ran = called(folder, *WORDS, f"optimizer.lr={rate}", f"study.name={name}", "study.question='What of <norms>?'")
        assert ran.returncode == 0, ran.stderr
    return folder


def changed(path: Path, column: str, row: int, value: float | None) -> None:
    """Write one value of a history anew."""
    table = pq.read_table(path)
    place, values = table.schema.get_field_index(column), table[column].to_pylist()
    values[row] = value
    pq.write_table(table.set_column(place, table.schema.field(place), pa.array(values, pa.float64())), path)


def test_a_trial_that_is_trained_again_has_the_same_bits_and_one_that_was_tampered_with_has_not(home: Path) -> None:
    ran = called(home, "verify", "first", "--trials", "1")
    assert ran.returncode == 0, ran.stderr
    assert "1 of 2 finished trials are trained again" in ran.stdout
    assert ": the same bits" in ran.stdout
    for trial in (home / "results" / "trials").iterdir():
        changed(trial / "history.parquet", "val/loss", 3, 1.25)
    again = called(home, "verify", "first", "--trials", "1")
    assert again.returncode == 1
    assert "val/loss at step 3: 1.25, again " in again.stdout
    assert "(code, data and packages are the same: the machine)" in again.stdout
    assert "not the same again: " in again.stderr


@pytest.mark.parametrize(
    ("value", "tolerance", "found"),
    [(2.0, 0.0, None), (2.001, 0.0, 2.001), (2.001, 1e-3, None), (float("nan"), 1e-3, float("nan")), (None, 0.0, None)],
)
def test_the_first_difference_is_found(tmp_path: Path, value: float, tolerance: float, found: float) -> None:
    for name in ("before", "again"):
        (tmp_path / name).mkdir()
        pq.write_table(pa.table({"step": [0, 1], "val/loss": [3.0, 2.0]}), tmp_path / name / "history.parquet")
    changed(tmp_path / "again" / "history.parquet", "val/loss", 1, value)
    difference = first_difference(tmp_path / "before", tmp_path / "again", tolerance)
    if value in (2.0, 2.001) and found is None:
        assert difference is None
    else:
        assert difference is not None
        assert repr(difference) == repr(Difference("val/loss", 1, 2.0, value))


def test_studies_are_compared_and_listed(home: Path) -> None:
    ran = called(home, "compare", "first", "second")
    assert "norm=rmsnorm" in ran.stdout and "optimizer.lr: 0.003 → 0.001" in ran.stdout
    assert called(home, "report").returncode == 0
    page = (home / "results" / "studies" / "index.html").read_text()
    assert 'href="first/report.html"' in page and 'href="second/report.html"' in page
    assert "What of &lt;norms&gt;?" in page


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("verify", "thrid"), "there is no study 'thrid'"),
        (("verify", "first", "--trials", "0"), "of which 0 cannot be verified"),
        (("compare", "first", "frist"), "did you mean 'first'?"),
        (("report", "--results", "nowhere"), "name another: --results FOLDER"),
    ],
)
def test_mistakes_get_a_sentence(home: Path, words: tuple[str, ...], sentence: str) -> None:
    ran = called(home, *words)
    assert ran.returncode == 1
    assert sentence in ran.stderr


def test_what_mlflow_was_sent_can_be_pulled_and_gives_the_same_effects(tmp_path: Path) -> None:
    """In processes of their own: MLflow's packages warn."""
    ran = typed(tmp_path, "run", *WORDS[1:-1], "seed=range(3)", "study.name=sent")
    assert ran.returncode == 0, ran.stderr
    pulled = typed(tmp_path, "pull", "sent")
    assert "6 trials of 2 arms" in pulled.stdout, pulled.stderr
    table = pd.read_parquet(tmp_path / "sent.parquet")
    again = from_frame(table, endpoints={"val/loss": "final"}).effects()
    own = load(tmp_path / "results", study="sent").effects()
    assert again.effect.to_list() == pytest.approx(own[own.endpoint == "val/loss"].effect.to_list())
    assert "did you mean 'sent'?" in typed(tmp_path, "pull", "snet").stderr
    assert (
        "there is no database sqlite:///nowhere.db"
        in typed(tmp_path, "pull", "sent", "--uri", "sqlite:///nowhere.db").stderr
    )
