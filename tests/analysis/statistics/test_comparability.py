"""Effects exist only between numbers of one meaning, of arms that do not read their answers."""

import json
from collections.abc import Callable, Mapping
from math import isnan
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import yaml

from analysis.findings.disclosures import missing_data
from analysis.findings.judgement import Judgement
from analysis.findings.verdict import verdicts
from analysis.page.report import write_report
from analysis.record.measure import SPELLED, TRAINED, VALIDATED
from analysis.statistics.effects import paired_effects
from analysis.tables.results import read_results
from tests.analysis.conftest import measured

Write = Callable[..., Path]
MEANING = {
    "vocabulary": "9 tokens", "data": "d", "validation": "v", "context": "64", "objective": "causal_lm", "text": "t",
}  # fmt: skip


def declared(home: Path, apart: Mapping[str, str]) -> Path:
    """The study, with measures that say what they are about and a second arm whose meaning differs by this."""
    for path in home.parents[1].glob("trials/*/summary.json"):
        own = {**MEANING, **(apart if path.parent.name.startswith("1") else {})}
        path.write_text(json.dumps(json.loads(path.read_text()) | {"meaning": own}))
        table = pq.read_table(path.parent / "history.parquet")
        for name, about in {"val/loss": VALIDATED, "train/loss": TRAINED}.items():
            place = table.column_names.index(name)
            field = table.field(place)
            field = field.with_metadata({**field.metadata, "about": " ".join(about)})
            table = table.set_column(place, field, table.column(place))
        pq.write_table(table, path.parent / "history.parquet")
    return home


@pytest.mark.parametrize(
    ("facet", "words", "compared"),
    [
        ("vocabulary", "per token of another vocabulary", {"train/loss": False, "val/loss": False}),
        ("validation", "over other validation sequences", {"train/loss": True, "val/loss": False}),
        ("data", "on other data", {"train/loss": False, "val/loss": True}),
        ("context", "in sequences of another length", {"train/loss": False, "val/loss": False}),
        ("objective", "under another objective", {"train/loss": False, "val/loss": False}),
    ],
)
def test_f2_numbers_of_another_meaning_have_values_and_no_effect(
    write_study: Write, facet: str, words: str, compared: Mapping[str, bool]
) -> None:
    home = declared(write_study(endpoints=dict.fromkeys(compared, "final"), margin={}), {facet: "another"})
    effects = {effect.endpoint: effect for effect in paired_effects(read_results(home))}
    assert {endpoint: not effect.incomparable for endpoint, effect in effects.items()} == compared
    for endpoint in (endpoint for endpoint, alike in compared.items() if not alike):
        effect = effects[endpoint]
        assert words in effect.incomparable
        assert effect.arm_mean - effect.baseline_mean == pytest.approx(0.1, abs=0.02)
        undefined = (effect.effect, effect.low, effect.p, effect.p_holm, effect.detectable, effect.seeds_needed)
        assert all(map(isnan, undefined))


def test_f2_the_reason_stands_in_every_output_and_the_row_in_no_family(write_study: Write) -> None:
    home = declared(
        write_study(endpoints={"val/loss": "final", "val/bits_per_byte": "final"}, margin={}), {"vocabulary": "another"}
    )
    bits = {"unit": "bits/byte", "better": "lower", "about": " ".join(SPELLED)}
    measured(home, "val/bits_per_byte", lambda place, seed: 1.5 + 0.1 * place + 0.001 * seed * (1 - place), **bits)
    page, text = write_report(home)
    results = read_results(home)
    loss, spelled = verdicts(results)
    assert (loss.judgement, spelled.judgement) == (Judgement.incomparable, Judgement.different)
    assert spelled.effect.p_holm == spelled.effect.p, "a family of one"
    reason = "measured per token of another vocabulary than under norm=layernorm; val/bits_per_byte can be compared"
    assert loss.effect.incomparable == reason
    csv = (home / "effects.csv").read_text()
    assert all(reason in where for where in (text, csv, page.read_text(), *missing_data(results)[-1:]))


def test_what_was_expected_of_numbers_of_another_meaning_is_not_judged(write_study: Write) -> None:
    expected = {"norm=rmsnorm": {"val/loss": "same"}}
    home = declared(write_study(change=0.0, expect=expected), {"objective": "masked_lm"})
    assert [verdict.judgement for verdict in verdicts(read_results(home))] == [Judgement.incomparable]


@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("allowed", [False, True])
def test_g10_an_arm_that_sees_the_future_is_in_no_comparison_unless_allowed(
    write_study: Write, place: int, allowed: bool
) -> None:
    home = write_study(allow_seeing_future=allowed)
    study = yaml.safe_load((home / "study.yaml").read_text())
    label = list(study["arms"])[place]
    study["arms"][label]["sees_future"] = True
    (home / "study.yaml").write_text(yaml.safe_dump(study, sort_keys=False))
    results = read_results(home)
    (effect,) = paired_effects(results)
    assert bool(effect.incomparable) != allowed
    assert any(line.startswith(f"{label} sees the future") for line in missing_data(results))
