"""Effects recover what was planted, and statistics are those of the books."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats as scipy_stats

from analysis.effect import effects, equivalence, holm, paired
from analysis.judgement import Judgement
from analysis.power import detectable, power, seeds_needed
from analysis.results import Results, opened
from analysis.verdict import verdicts

Write = Callable[..., Path]
stats: Any = scipy_stats  # its stubs know no result's fields


def read(write_study: Write, **given: object) -> Results:
    return opened(write_study(**given))


def test_pairing_finds_a_change_through_the_noise_of_seeds() -> None:
    random = np.random.default_rng(0)
    luck = pd.Series(random.normal(3.0, 1.0, 8))
    found = paired(luck, luck + 0.05 + random.normal(0, 1e-3, 8))
    assert 0.048 < found["low"] < found["effect"] < found["high"] < 0.052
    assert found["saved"] > 1e5


def test_the_same_change_in_every_seed_has_no_interval_and_an_exact_test() -> None:
    found = paired(pd.Series([0.0, 0.0]), pd.Series([1.0, 1.0]))
    assert np.isnan(found["low"])
    assert found["p"] == found["p_sign_flip"] == 0.5


def test_rates_are_tested_exactly() -> None:
    found = paired(pd.Series([0.0] * 8), pd.Series([1.0] * 7 + [0.0]))
    assert found["p"] == pytest.approx(2 / 2**7)


def test_beyond_sixteen_pairs_no_test_is_called_exact() -> None:
    assert np.isnan(paired(pd.Series(np.zeros(17)), pd.Series(np.arange(17.0)))["p_sign_flip"])


def test_what_could_be_seen_is_after_the_correction() -> None:
    change = pd.Series(np.random.default_rng(4).normal(0, 1, 8))
    alone, among_four = (paired(change * 0, change, family)["detectable"] for family in (1, 4))
    assert alone == pytest.approx(detectable(8) * change.std())
    assert among_four == pytest.approx(detectable(8, 0.0125) * change.std())


def test_an_interval_is_scipys_and_pairs_go_by_seed() -> None:
    random = np.random.default_rng(1)
    first, second = (pd.Series(random.normal(0, 1, 10), index=range(10)) for _ in range(2))
    found = paired(first, second.sample(frac=1, random_state=0))
    test = stats.ttest_rel(second, first)
    assert found["p"] == pytest.approx(test.pvalue)
    assert (found["low"], found["high"]) == pytest.approx(tuple(test.confidence_interval(0.95)))


def test_a_missing_seed_drops_its_pair_only() -> None:
    first, second = pd.Series({0: 1.0, 1: 2.0, 2: 3.0, 3: np.nan}), pd.Series({0: 2.0, 2: 4.5, 3: 9.0, 4: 7.0})
    found = paired(first, second)
    assert (found["pairs"], found["effect"]) == (2, pytest.approx(1.25))


def test_one_pair_has_no_interval_and_no_test() -> None:
    found = paired(pd.Series([1.0]), pd.Series([1.5]))
    assert found["effect"] == 0.5
    assert all(np.isnan(found[name]) for name in ("low", "high", "p", "detectable"))


def test_twins_are_identical_and_have_no_p() -> None:
    found = paired(pd.Series([1.0, 2.0, 3.0]), pd.Series([1.0, 2.0, 3.0]))
    assert found["identical"]
    assert np.isnan(found["p"])


def test_the_sign_flip_test_is_exact() -> None:
    rising = pd.Series(np.arange(1.0, 7.0))
    assert paired(rising * 0, rising)["p_sign_flip"] == pytest.approx(2 / 2**6)


def test_holm_steps_down() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert np.isnan(holm([float("nan")])).all()


def test_minimal_detectable_effects_are_those_of_the_quadrature() -> None:
    seeds = (3, 4, 5, 6, 8, 10, 12, 16, 20, 30)
    assert [round(detectable(n), 2) for n in seeds] == [3.26, 2.13, 1.68, 1.43, 1.16, 1.00, 0.89, 0.75, 0.66, 0.53]
    strict = [round(detectable(n, 0.005), 2) for n in seeds[1:]]
    assert strict == [4.71, 3.16, 2.46, 1.81, 1.48, 1.29, 1.05, 0.91, 0.72]


def test_power_is_what_simulation_finds() -> None:
    samples = np.random.default_rng(0).normal(0.8, 1, (20_000, 8))
    seen = (stats.ttest_1samp(samples, 0, axis=1).pvalue < 0.05).mean()
    assert power(0.8, 8) == pytest.approx(seen, abs=0.01)


def test_seeds_needed_is_the_inverse_of_detectable() -> None:
    for pairs in (4, 9, 25):
        assert seeds_needed(detectable(pairs) + 1e-9) == pairs


def test_the_interval_covers_the_truth_as_often_as_it_says() -> None:
    random = np.random.default_rng(2)
    luck = random.normal(0, 1, (250, 8))
    change = random.normal(0.3, 0.5, (250, 8))
    found = [paired(pd.Series(a), pd.Series(a + d)) for a, d in zip(luck, change, strict=True)]
    covered = sum(f["low"] <= 0.3 <= f["high"] for f in found)
    assert stats.binomtest(covered, 250, 0.95).pvalue > 0.001


def test_equivalence_is_two_one_sided_tests() -> None:
    change = np.random.default_rng(3).normal(0.001, 0.004, 8)
    zero = pd.Series(np.zeros(8))
    wanted = max(
        stats.ttest_1samp(change, -0.02, alternative="greater").pvalue,
        stats.ttest_1samp(change, 0.02, alternative="less").pvalue,
    )
    assert equivalence(zero, pd.Series(change), 0.02) == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("expected", "change", "noise", "judgement"),
    [
        ("higher", 0.1, 0.01, Judgement.supported),
        ("lower", 0.1, 0.01, Judgement.contradicted),
        ("same", 0.001, 0.002, Judgement.supported),
        ("same", 0.1, 0.01, Judgement.contradicted),
        ("same", 0.0, 0.2, Judgement.undecided),
        ("lower", 0.0, 0.2, Judgement.undecided),
        ("lower", 0.001, 0.002, Judgement.equivalent),
        (None, 0.1, 0.01, Judgement.different),
        (None, 0.001, 0.002, Judgement.equivalent),
    ],
)
def test_verdicts(write_study: Write, expected: str | None, change: float, noise: float, judgement: Judgement) -> None:
    expect = {"norm=rmsnorm": {"val/loss": expected}} if expected else {}
    results = read(write_study, change=change, noise=noise, expect=expect)
    (verdict,) = verdicts(results)
    assert verdict.judgement is judgement
    assert "val/loss under norm=rmsnorm" in verdict.sentence


def test_a_diverged_trial_counts_as_diverged_and_in_no_mean(write_study: Write) -> None:
    results = read(write_study, diverged=[2], endpoints={"val/loss": "final", "diverged": "any"})
    table = effects(results).set_index("endpoint")
    assert table.pairs.to_dict() == {"val/loss": 7, "diverged": 8}
    assert table.effect["diverged"] == pytest.approx(1 / 8)


def test_an_unfinished_trial_is_listed_and_counts_in_nothing(write_study: Write) -> None:
    results = read(write_study, missing=[1])
    assert effects(results).pairs.to_list() == [7]
    assert results.trials.status.value_counts().to_dict() == {"finished": 15, "missing": 1}


def test_settings_are_columns_by_their_keys(write_study: Write) -> None:
    trials = read(write_study).trials
    assert set(trials.norm) == {"layernorm", "rmsnorm"}
    assert set(trials["model.width"]) == {64}
