"""Wherever trials run they are the same trials, in the same folders, with the same bits."""

import json
from pathlib import Path

import pytest

from tests.conftest import QUICK, called, typed

WORDS = ("norm=layernorm,rmsnorm", *QUICK, "runtime.tracking_uri=none")


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("own")
    assert called(folder, "run", *WORDS).returncode == 0
    return folder


def histories(folder: Path) -> dict[str, bytes]:
    """Histories by trial."""
    return {path.parent.name: path.read_bytes() for path in (folder / "results").glob("trials/*/history.parquet")}


@pytest.mark.parametrize("launcher", ["joblib", "submitit_local", "ray"])
def test_other_launchers_give_the_same_bits(launcher: str, own: Path, tmp_path: Path) -> None:
    pytest.importorskip(f"hydra_plugins.hydra_{launcher.partition('_')[0]}_launcher")
    ran = typed(tmp_path, "run", *WORDS, f"hydra/launcher={launcher}")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "norm=rmsnorm" in ran.stdout and "report: " in ran.stdout
    assert histories(tmp_path) == histories(own)
    beside = {json.loads(path.read_text())["beside"] for path in tmp_path.glob("results/trials/*/summary.json")}
    assert beside == {None}, "nobody knows what else these run"
    assert not list(tmp_path.glob("results/**/lease.*"))


def test_a20_optuna_minimises_the_first_endpoint_and_takes_a_divergence_for_the_worst(tmp_path: Path) -> None:
    pytest.importorskip("hydra_plugins.hydra_optuna_sweeper")
    words = ("hydra/sweeper=optuna", "hydra/sweeper/sampler=grid", "optimizer.lr=choice(1e30,0.003)")
    settings = ("hydra.sweeper.n_trials=2", "hydra.sweeper.n_jobs=1", "trainer.gradient_clip_val=null")
    ran = typed(tmp_path, "run", *words, *settings, *QUICK, "runtime.tracking_uri=none")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    said = [json.loads(path.read_text())["status"] for path in tmp_path.glob("results/trials/*/summary.json")]
    assert sorted(said) == ["diverged", "finished"]
    assert "optimizer.lr: 0.003" in (tmp_path / "optimization_results.yaml").read_text()
