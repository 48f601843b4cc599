"""What a page says that two trials of one seed share is what they recorded."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from analysis.findings.pairing import NO_SEED_IN_COMMON, pairing_sentence
from analysis.tables.results import Results, read_results

Write = Callable[..., Path]

SETTINGS = {"batch_size": 4, "trainer": {"accumulate_grad_batches": 1, "max_steps": 10}, "init": {"name": "fan_in"}}
MEANING = {"vocabulary": "9 tokens", "data": "pydoc", "validation": "v", "context": "64", "objective": "causal_lm"}
TOKENS = "both trials read the same tokens in the same order"
WEIGHTS = "share every initial weight that the arm does not touch"

# What sets the second arm apart: settings, seeds, its meaning; then whether tokens and weights are shared.
PAIRS: dict[str, tuple[Mapping[str, Any], Mapping[str, int], Mapping[str, str], bool, bool]] = {
    "a part": ({"norm": {"name": "rmsnorm"}}, {}, {}, True, True),
    "the learning rate": ({"optimizer": {"lr": 0.1}}, {}, {}, True, True),
    "data_seed": ({}, {"data_seed": 9}, {}, False, True),
    "init_seed": ({}, {"init_seed": 9}, {}, True, False),
    "batch_size": ({"batch_size": 8}, {}, {}, False, True),
    "accumulation": ({"trainer": {"accumulate_grad_batches": 2, "max_steps": 10}}, {}, {}, False, True),
    "the same sequences per step otherwise": (
        {"batch_size": 2, "trainer": {"accumulate_grad_batches": 2, "max_steps": 10}}, {}, {}, True, True,
    ),
    "steps": ({"trainer": {"accumulate_grad_batches": 1, "max_steps": 20}}, {}, {}, False, True),
    "context": ({}, {}, {"context": "128"}, False, True),
    "data": ({}, {}, {"data": "text"}, False, True),
    "objective": ({}, {}, {"objective": "masked_lm"}, False, True),
    "init": ({"init": {"name": "xavier"}}, {}, {}, True, False),
}  # fmt: skip


def recorded(home: Path, seeds: Mapping[str, int], meaning: Mapping[str, str]) -> Results:
    """The study's results, once the trials of its second arm have recorded these."""
    for path in home.parents[1].glob("trials/*/summary.json"):
        summary, second = json.loads(path.read_text()), path.parent.name.startswith("1")
        number = int(path.parent.name[1:], 16)
        own = {"seed": number, "init_seed": number, "data_seed": number}
        summary["seeds"] = {**own, **(seeds if second else {})}
        summary["meaning"] = {**MEANING, **(meaning if second else {})}
        path.write_text(json.dumps(summary))
    return read_results(home)


@pytest.mark.parametrize("name", PAIRS)
def test_f3_what_is_said_to_be_shared_is_shared(write_study: Write, name: str) -> None:
    settings, seeds, meaning, tokens, weights = PAIRS[name]
    results = recorded(write_study(seeds=3), seeds, meaning)
    arms = {
        label: replace(arm, settings={**SETTINGS, **own})
        for (label, arm), own in zip(results.study.arms.items(), ({}, settings), strict=True)
    }
    sentence = pairing_sentence(replace(results, study=replace(results.study, arms=arms)))
    assert (TOKENS in sentence, WEIGHTS in sentence) == (tokens, weights), sentence


def test_arms_without_a_seed_in_common_share_nothing(write_study: Write) -> None:
    results = recorded(write_study(seeds=3), {"init_seed": 7, "data_seed": 7}, {})
    assert pairing_sentence(results) == NO_SEED_IN_COMMON


def test_arms_that_share_less_are_named(write_study: Write) -> None:
    results = recorded(write_study(seeds=3, arms=["norm=layernorm", "norm=rmsnorm", "norm=none"]), {}, {"data": "text"})
    assert f"{TOKENS}, except (norm=rmsnorm: other data)" in pairing_sentence(results)
