"""Arms choose for themselves on seeds of their own, and are compared on others."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hydra.core.override_parser.overrides_parser import OverridesParser
from omegaconf import DictConfig

from experiments.study import Plan, plan
from experiments.tune import FIRST_SEED, tuning
from tests.conftest import QUICK, called, trained

Compose = Callable[..., DictConfig]
WORDS = ("norm=layernorm,none", "+study.tune={optimizer.lr: [1e-6, 3e-3, 1e30], seeds: 1}", "study.name=fair")


def planned(compose: Compose, *words: str) -> tuple[Plan, Any]:
    overrides = OverridesParser.create().parse_overrides(list(words))
    made = plan(overrides, lambda lines: compose(*lines))
    return made, tuning(overrides, lambda lines: compose(*lines), made)


def test_every_arm_tries_every_value_on_seeds_that_are_not_the_studys(compose: Compose) -> None:
    made, tried = planned(compose, *WORDS, "seed=range(3)")
    assert tried.name == "fair tuning"
    assert len(tried.arms) == 6
    assert tried.seeds == [FIRST_SEED]
    ids = [{trial.id for trial in each.trials} for each in (made, tried)]
    assert not ids[0] & ids[1]


def test_a_study_without_it_tunes_nothing(compose: Compose) -> None:
    assert planned(compose, "norm=layernorm,none")[1] is None


@pytest.mark.parametrize(
    ("tune", "sentence"),
    [
        ("{optimizer.lr: 1e-3}", "optimizer.lr must be a list of values to choose from, was given 0.001"),
        ("{norm: [rmsnorm, none]}", "norm is a factor of this study too"),
        ("{optimizer.lrr: [1e-3, 1e-2]}", "lrr"),
    ],
)
def test_what_cannot_be_tuned_is_refused(compose: Compose, tune: str, sentence: str) -> None:
    with pytest.raises(Exception, match=sentence):
        planned(compose, "norm=layernorm,none", f"+study.tune={tune}")


def test_each_arm_runs_with_what_served_it_best_and_the_page_says_so(tmp_path: Path) -> None:
    words = (*WORDS, *QUICK, "trainer.gradient_clip_val=null", "runtime.tracking_uri=none")
    ran = called(tmp_path, "run", *words)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    study = yaml.safe_load((tmp_path / "results" / "studies" / "fair" / "study.yaml").read_text())
    assert study["tuned"] == {arm: {"optimizer.lr": "0.003"} for arm in ("norm=layernorm", "norm=none")}
    assert study["edges"] == []
    assert all(arm["settings"]["optimizer"]["lr"] == 0.003 for arm in study["arms"].values())
    page = (tmp_path / "results" / "studies" / "fair" / "report.md").read_text()
    assert "chosen for each arm on seeds of their own: norm=layernorm: optimizer.lr=0.003" in page
    assert trained(called(tmp_path, "run", *words)) == 0
