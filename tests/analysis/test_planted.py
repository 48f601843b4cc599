"""Planted truths: what was put into a table is what comes out of the analysis."""

import gc
import re
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import analysis
from analysis import from_frame, heat, plots
from analysis.contents import exclusions
from analysis.depth import profiles
from analysis.effect import paired
from analysis.factors import factorial
from analysis.limits import missing
from analysis.rates import rates, share, solving, survival
from analysis.report import write_report
from analysis.results import Results, opened
from analysis.sensitivity import curves, sensitivities
from analysis.sites import matrices

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
import planted  # pyright: ignore[reportMissingImports]

Write = Callable[..., Path]


def crossed(*, interaction: float = 0.0, seeds: int = 8, noise: float = 0.01) -> Results:
    """2 × 2: the norm costs 0.1, the placement 0.2, both together `interaction` more."""
    random = np.random.default_rng(0)
    rows = [
        {
            "norm": norm,
            "placement": placement,
            "seed": seed,
            "step": 1,
            "loss": luck[seed] + loss + random.normal(0, noise),
        }
        for luck in [random.normal(2, 0.3, seeds)]
        for norm, placement, loss in (
            ("rms", "pre", 0),
            ("none", "pre", 0.1),
            ("rms", "post", 0.2),
            ("none", "post", 0.3 + interaction),
        )
        for seed in range(seeds)
    ]
    return from_frame(pd.DataFrame(rows), arm=["norm", "placement"], endpoints={"loss": "final"})


def test_holm_holds_and_promises_are_kept() -> None:
    """A part of `benchmarks/planted.py`; bounds are four standard errors of these few simulations."""
    gc.freeze()  # statsmodels collects garbage at every correction, of all that other tests have left
    try:
        assert planted.family_error(40, 6) < 0.19
        assert abs(planted.power(40, 6) - 0.8) < 0.26
    finally:
        gc.unfreeze()


def test_a_table_from_elsewhere_gives_the_effects_of_a_study() -> None:
    results = crossed()
    assert results.arms[0] == "norm=rms, placement=pre"
    found = results.effects().set_index("arm").effect
    assert found["norm=none, placement=pre"] == pytest.approx(0.1, abs=0.015)
    assert found["norm=rms, placement=post"] == pytest.approx(0.2, abs=0.015)
    other = from_frame(results.history, arm="arm", endpoints={"loss": "final"}, baseline="norm=none, placement=post")
    assert other.effects().effect.max() < 0
    with pytest.raises(ValueError, match=r"there is no column 'los' \(did you mean 'loss'\?\)"):
        from_frame(results.history, endpoints={"los": "final"})
    same = {"norm=none, placement=pre": {"loss": "same"}}
    for asked, sentence in (
        ({"margin": {"los": 0.1}}, "there is no measure 'los' (did you mean 'loss'?)"),
        ({"expect": {"norm=rms": {"loss": "lower"}}}, "there is no arm 'norm=rms'"),
        ({"expect": {"norm=none, placement=pre": {"loss": "less"}}}, "there is no expectation 'less'"),
        ({"expect": same}, "say within what: margin"),
        ({"endpoints": {"loss": "finale"}}, "there is no reduction 'finale' (did you mean 'final'?)"),
    ):
        with pytest.raises(ValueError, match=re.escape(sentence)):
            from_frame(results.history, **{"endpoints": {"loss": "final"}, **asked})
    with pytest.raises(AttributeError, match="it has load, from_frame"):
        analysis.nothing  # noqa: B018


@pytest.mark.parametrize("interaction", [0.0, 0.15])
def test_main_effects_and_interactions_are_those_that_were_planted(interaction: float) -> None:
    found = factorial(crossed(interaction=interaction)).set_index("effect of")
    assert found.effect["norm=none"] == pytest.approx(0.1 + interaction / 2, abs=0.01)
    assert found.effect["placement=post"] == pytest.approx(0.2 + interaction / 2, abs=0.01)
    both = "norm=none × placement=post"
    assert found.effect[both] == pytest.approx(interaction, abs=0.02)
    assert bool(found.p_holm[both] < 0.05) == (interaction > 0)


def test_one_factor_has_no_interactions(write_study: Write) -> None:
    assert factorial(opened(write_study())).empty


def test_a_divergence_in_a_table_is_one() -> None:
    table = crossed().history
    table.loc[(table.arm == "norm=none, placement=pre") & (table.seed == 3), "loss"] = np.inf
    results = from_frame(table, endpoints={"loss": "final"})
    assert results.effects().set_index("arm").pairs["norm=none, placement=pre"] == 7
    diverged = next(r for r in rates(results) if r["arm"] == "norm=none, placement=pre" and r["what"] == "diverged")
    assert (diverged["count"], diverged["n"]) == (1, 8)
    assert diverged["low"] == pytest.approx(0.0032, abs=1e-4)  # Clopper and Pearson's
    assert diverged["high"] == pytest.approx(0.5265, abs=1e-4)


@pytest.mark.parametrize(("n", "high"), [(5, 0.52), (10, 0.31), (30, 0.12)])
def test_no_divergence_of_a_few_says_little(n: int, high: float) -> None:
    assert share(0, n)["high"] == pytest.approx(high, abs=0.005)


def test_a_task_that_some_never_solve_has_a_median_and_a_mean_within_the_budget() -> None:
    rows = [
        {"arm": arm, "seed": seed, "step": 400, "solved": 1.0 if at else 0.0, "steps_to_solve": at or np.nan}
        for arm, times in (("quick", [100, 100, 200, 200]), ("slow", [300, 0, 0, 0]))
        for seed, at in enumerate(times)
    ]
    results = from_frame(pd.DataFrame(rows), endpoints={"solved": "final"})
    results.measures.loc["steps_to_solve"] = ["steps", "lower", "final", "exactly"]
    quick, slow = solving(results)
    assert (quick["median"], quick["mean"]) == (100, 150)
    assert (slow["median"], slow["mean"]) == (np.inf, 375)
    assert survival(pd.Series([np.nan, np.nan]), 400)["mean"] == 400
    assert [r["count"] for r in rates(results) if r["what"] == "solved"] == [4, 1]


def test_what_never_learns_is_least_sensitive_and_its_best_loss_says_so() -> None:
    """Rates 1e-3, 1e-2, 1e-1: one arm learns best in the middle and diverges on the right, the other stays at ln 32."""
    losses = {("scaled", 1e-3): 1.0, ("scaled", 1e-2): 0.5, ("scaled", 1e-1): np.nan}
    losses |= {("unscaled", rate): 3.4 for rate in (1e-3, 1e-2, 1e-1)}
    rows = [
        {"scale": scale, "optimizer.lr": rate, "seed": seed, "step": step, "val/loss": 3.5 if step == 0 else loss}
        for (scale, rate), loss in losses.items()
        for seed in range(3)
        for step in (0, 100)
    ]
    results = from_frame(pd.DataFrame(rows), arm=["scale", "optimizer.lr"], endpoints={"val/loss": "final"})
    scaled, unscaled = sensitivities(results)
    assert (scaled["group"], scaled["best"], scaled["rate"], scaled["edge"]) == ("scale=scaled", 0.5, 1e-2, False)
    assert scaled["sensitivity"] == pytest.approx((0.5 + 0 + 3.0) / 3)
    assert unscaled["sensitivity"] == 0
    assert unscaled["best"] == 3.4
    assert curves(results).diverged.to_list() == [0, 0, 3, 0, 0, 0]


def test_the_bootstrap_stands_beside_from_twenty_pairs_on() -> None:
    random = np.random.default_rng(0)
    change = pd.Series(random.normal(1.0, 0.5, 20))
    found = paired(pd.Series(0.0, index=range(20)), change)
    assert found["bca_low"] == pytest.approx(found["low"], abs=0.05)
    assert found["bca_high"] == pytest.approx(found["high"], abs=0.05)
    assert np.isnan(paired(pd.Series(0.0, index=range(19)), change[:19])["bca_low"])
    assert found["seeds"] == 5


def test_layers_and_sites_are_tables_of_means() -> None:
    rows = [
        {
            "arm": arm,
            "seed": seed,
            "step": 1,
            **{f"stream/rms/layers.{i}": i + place + seed for i in range(3)},
            "zero_ablation/layers.0.ffn": seed,
        }
        for place, arm in enumerate(("a", "b"))
        for seed in (0, 1)
    ]
    names = [name for name in rows[0] if "/" in str(name)]
    results = from_frame(pd.DataFrame(rows), endpoints=dict.fromkeys(names, "final"))
    assert profiles(results)["stream/rms"].to_numpy().tolist() == [[0.5, 1.5, 2.5], [1.5, 2.5, 3.5]]
    matrix = matrices(results)["zero_ablation"]
    assert matrix.means.to_numpy().tolist() == [[0.5, 0.5]]
    assert matrix.told().loc["layers.0.ffn", "a"] == "0.5 ± 6"
    for figure in (heat.depths(results, profiles(results)), heat.sites(matrix)):
        assert "<svg" in plots.svg(figure)


def test_exclusions_are_shown_with_and_without_and_named(write_study: Write) -> None:
    home = write_study(change=0.1, exclude={"100000000003": "its node lost a disk"})
    results = opened(home)
    (row,) = exclusions(results)
    assert (row["pairs"], row["whole"]["pairs"]) == (7, 8)
    assert "norm=rmsnorm, seed 3: excluded: its node lost a disk (trial 100000000003, which finished)" in missing(
        results
    )
    page, _ = write_report(home)
    assert "its node lost a disk" in page.read_text()


def test_a_study_that_was_extended_says_so(write_study: Write) -> None:
    said = "extended from 5 to 8 seeds after its results could be seen: p-values are too small"
    assert said in missing(opened(write_study(extended=[3, 5])))


def test_a_sparse_log_is_no_divergence_and_a_column_may_be_called_arm() -> None:
    rows = [
        {"arm": arm, "lr": rate, "seed": seed, "step": step, "loss": loss if step == 10 else np.nan, "train": 1.0}
        for arm, loss in (("a", 1.0), ("b", 2.0))
        for rate in (1, 2)
        for seed in range(3)
        for step in (0, 10, 20)
    ]
    results = from_frame(pd.DataFrame(rows), arm=["arm", "lr"], endpoints={"loss": "final"})
    assert set(results.trials.status) == {"finished"}
    assert results.study["arms"]["arm=b, lr=2"]["levels"] == {"arm": "b", "lr": "2"}


def test_a_rate_is_tested_exactly_however_many_pairs() -> None:
    found = paired(pd.Series([0.0] * 20), pd.Series([1.0] * 18 + [0.0] * 2))
    assert found["p"] == pytest.approx(2 / 2**18)
