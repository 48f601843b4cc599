"""What a page must not say: that nothing diverged, that a share lies beyond 1, that all was said before it was seen."""

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis import from_frame
from analysis.cautions import CAUTIONS
from analysis.contents import pairing
from analysis.curves import curve
from analysis.effect import paired
from analysis.factors import factorial
from analysis.judgement import Judgement
from analysis.limits import missing, unproven
from analysis.paper import latex
from analysis.power import detectable, power, seeds_needed
from analysis.rates import rates
from analysis.report import write_report
from analysis.results import opened
from analysis.sensitivity import start
from analysis.verdict import verdicts, worst
from tests.analysis.conftest import measured

Write = Callable[..., Path]
LAYERS = {"unit": "1", "better": "neither", "reduction": "median"}


def test_d1_a_study_in_which_every_trial_diverged_has_a_page_that_says_so(write_study: Write) -> None:
    home = write_study(diverged=range(8), arms=["norm=layernorm", "norm=none"])
    for layer in (0, 1):
        measured(home, f"gradient_norm/layers.{layer}", lambda place, seed: None if place else 1.0, **LAYERS)
    page, _ = write_report(home)
    assert "no seed has it in both arms. 8 of 8 trials of norm=none diverged and are not in this." in page.read_text()
    assert not [line for line in unproven(opened(home), verdicts(opened(home))) if "undecided" in line]


def test_a_layer_that_only_diverged_trials_had_is_in_no_heat_map(write_study: Write) -> None:
    home = write_study(diverged=range(8))
    for layer in (0, 1):
        measured(home, f"gradient_norm/layers.{layer}", lambda place, seed: 1.0 if place else None, **LAYERS)
    page, _ = write_report(home)
    assert "Over the layers" not in page.read_text()


def test_the_survivors_of_a_divergence_do_not_speak_for_those_who_did_not(write_study: Write) -> None:
    home = write_study(change=-0.5, diverged=[0, 1, 2, 3, 4], expect={"norm=rmsnorm": {"val/loss": "lower"}})
    (verdict,) = verdicts(opened(home))
    assert verdict.judgement is Judgement.supported
    assert verdict.sentence.endswith("as expected. 5 of 8 trials of norm=rmsnorm diverged and are not in this.")


def test_who_diverged_has_not_solved_the_task(write_study: Write) -> None:
    home = write_study(diverged=[0, 1, 2], endpoints={"solved": "final"}, margin={})
    measured(home, "solved", lambda place, seed: 1.0)
    results = opened(home)
    (row,) = results.effects().to_dict("records")
    assert (row["pairs"], row["effect"], row["identical"]) == (8, -3 / 8, False)
    assert [each["count"] for each in rates(results) if each["what"] == "solved"] == [8, 5]


def test_times_to_solve_are_censored_where_a_trial_ended(write_study: Write) -> None:
    home = write_study(diverged=[1], endpoints={"steps_to_solve": "final"}, margin={})
    measured(home, "steps_to_solve", lambda place, seed: None if place and seed == 0 else 100.0, unit="steps")
    results = opened(home)
    results.trials["trainer.max_steps"] = 400
    table = results.endpoint("steps_to_solve", "final")
    assert table["norm=rmsnorm"].to_list() == [400, 400, *[100] * 6]


def test_shares_have_no_t_interval_and_what_they_could_show_is_exact() -> None:
    zeros, ones = pd.Series([0.0] * 10), pd.Series([1.0] * 9 + [0.0])
    made = paired(zeros, ones, family=6)
    assert np.isnan(made["low"]) and made["effect"] == 0.9
    assert made["detectable"] == pytest.approx(0.842, abs=0.001)
    assert made["p"] == pytest.approx(2 / 2**9)
    few = paired(zeros[:4], ones[:4], family=6)
    assert (few["detectable"], few["seeds"]) == (np.inf, 8)


@pytest.mark.parametrize(("pairs", "family"), [(2, 90), (2, 1000), (3, 500)])
def test_what_could_be_seen_is_a_number_in_the_largest_studies(pairs: int, family: int) -> None:
    alpha = 0.05 / family
    assert power(detectable(pairs, alpha), pairs, alpha) == pytest.approx(0.8, abs=1e-3)
    assert seeds_needed(1e6, alpha) == 2


@pytest.mark.parametrize(
    ("change", "judgement"), [(0.001, Judgement.supported), (0.5, Judgement.contradicted)], ids=["within", "beyond"]
)
def test_the_same_difference_in_every_seed_is_within_a_margin_or_beyond(
    write_study: Write, change: float, judgement: Judgement
) -> None:
    home = write_study(change=change, noise=0.0, expect={"norm=rmsnorm": {"val/loss": "same"}})
    (verdict,) = verdicts(opened(home))
    assert verdict.judgement is judgement
    assert ("contrary to what was expected (same)" in verdict.sentence) == (judgement is Judgement.contradicted)
    assert worst([verdict]) == str(judgement)


def test_what_is_seen_and_less_than_the_margin_says_both(write_study: Write) -> None:
    home = write_study(change=0.005, noise=0.001, expect={"norm=rmsnorm": {"val/loss": "higher"}})
    (verdict,) = verdicts(opened(home))
    assert verdict.sentence.endswith("as expected, yet within ± 0.02.")


def test_seeds_for_equivalence_are_promised_where_there_is_no_difference(write_study: Write) -> None:
    home = write_study(change=0.0, noise=0.04, expect={"norm=rmsnorm": {"val/loss": "same"}})
    (verdict,) = verdicts(opened(home))
    assert re.search(
        r"about \d+ seeds would show equivalence within ± 0.02 if there is no difference", verdict.sentence
    )


def test_a_fraction_has_the_main_effects_that_were_planted() -> None:
    random, half = np.random.default_rng(0), ["000", "011", "101", "110"]
    rows = [
        {**dict(zip("abc", arm, strict=True)), "seed": seed, "step": 1,
         "loss": luck + 0.1 * int(arm[0]) - 0.3 * int(arm[1]) + random.normal(0, 0.01)}
        for seed, luck in enumerate(random.normal(2, 0.3, 8)) for arm in half
    ]  # fmt: skip
    found = factorial(from_frame(pd.DataFrame(rows), arm=["a", "b", "c"], endpoints={"loss": "final"}))
    assert found["effect of"].to_list() == ["a=1", "b=1", "c=1"]
    assert found.effect.to_list() == pytest.approx([0.1, -0.3, 0.0], abs=0.015)


def test_each_arm_starts_where_it_starts(write_study: Write) -> None:
    home = write_study(change=3.0, noise=0.0)
    first = start(opened(home))
    assert first["norm=rmsnorm"] - first["norm=layernorm"] == pytest.approx(3.0)


def test_pairs_are_said_to_share_what_they_share(write_study: Write) -> None:
    results = opened(write_study())
    assert "saw the same tokens" in pairing(results)
    arms = results.study["arms"]
    for settings, words in (({"seed_offset": 1}, "no seed in common"), ({"batch_size": 8}, "what they read differs")):
        for arm in arms.values():
            arm["settings"] |= {"seed_offset": 0, "batch_size": 4}
        arms["norm=rmsnorm"]["settings"] |= settings
        assert words in pairing(results)


def test_what_was_changed_after_a_look_is_said(write_study: Write) -> None:
    said = "changed after the results could be seen, so not said before them: expect, margin"
    assert said in missing(opened(write_study(changed=["expect", "margin"])))


def test_exact_tests_that_can_decide_nothing_are_named(write_study: Write) -> None:
    lines = missing(opened(write_study(arms=[f"norm={n}" for n in range(9)])))
    assert "exact tests: with 8 rows none can reach a corrected p below 0.05 with fewer than 9 seeds" in lines


def test_every_caution_can_be_printed_by_latex() -> None:
    printed = latex(pd.DataFrame({"caution": [caution.sentence for caution in CAUTIONS]}))
    assert printed.isascii(), [letter for letter in printed if not letter.isascii()]


def test_seeds_may_have_names_and_a_step_one_value() -> None:
    table = pd.DataFrame({"arm": ["a", "a", "b", "b"], "seed": ["run1", "run0"] * 2, "step": 1, "loss": [2.0, 1, 3, 2]})
    assert from_frame(table, endpoints={"loss": "final"}).effects().effect.to_list() == [1.0]
    with pytest.raises(ValueError, match="loss has several values for one arm, seed and step"):
        from_frame(pd.concat([table, table]), endpoints={"loss": "final"})


def test_main_effects_on_shares_have_no_interval_that_reaches_beyond_them() -> None:
    rows = [
        {"a": a, "b": b, "seed": seed, "step": 1, "solved": float(a == b == "0" and seed != 3)}
        for a in "01" for b in "01" for seed in range(8)
    ]  # fmt: skip
    found = factorial(from_frame(pd.DataFrame(rows), arm=["a", "b"], endpoints={"solved": "final"}))
    assert found.low.isna().all() and found.p.notna().all()
    assert (found.p == found.p_sign_flip).all()


def test_a_row_whose_interval_lies_apart_from_zero_says_why_it_is_undecided(write_study: Write) -> None:
    random = np.random.default_rng(1)
    luck = {arm: random.normal(0.0, 1.0, 8) for arm in range(1, 9)}
    home = write_study(change=0.0, noise=0.0, arms=[f"norm={n}" for n in range(9)], endpoints={"x": "final"}, margin={})
    measured(home, "x", lambda place, seed: (0.9 + luck[place][seed]) if place else 0.0, unit="1")
    apart = [v for v in verdicts(opened(home)) if v.judgement is Judgement.undecided and v.effect["low"] > 0]
    assert apart and all("undecided, as p is 0." in v.sentence and "after the correction" in v.sentence for v in apart)


def test_shares_over_steps_have_an_interval_within_them() -> None:
    history = pd.DataFrame({"arm": "a", "seed": range(10), "step": 1, "solved": [1.0] * 9 + [0.0]})
    (point,) = curve(history, "solved").to_dict("records")
    assert (point["low"], point["high"]) == (pytest.approx(0.555, abs=1e-3), pytest.approx(0.9975, abs=1e-4))


def test_a_notebook_has_the_verdicts_too(write_study: Write) -> None:
    found = opened(write_study(expect={"norm=rmsnorm": {"val/loss": "higher"}})).verdicts()
    assert found[["expected", "judgement"]].to_numpy().tolist() == [["higher", "supported"]]
    assert found.sentence[0].endswith("as expected.")
