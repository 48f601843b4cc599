"""What an annotation admits, what it refuses, and that every knob of every part has a domain that is kept."""

import math
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pytest
from annotated_types import Ge, Interval, Len, MultipleOf

from components.contract.broken import BrokenContract
from components.contract.checks import has_plain_knobs
from components.domains import (
    Count,
    Distinct,
    Index,
    NonNegative,
    OneOf,
    OrInfinite,
    Positive,
    Probability,
    ProperShare,
    Seed,
    Share,
    admits,
    notation,
    refuse,
    worded,
)  # fmt: skip
from components.norm import norms
from components.registry import Registry, kinds
from experiments.data.text import Unit
from tests.outside import inside, is_a_sentence, outside

KINDS = {**kinds("components"), **kinds("experiments")}
PARTS = [pytest.param(r, name, id=f"{r.kind}={name}") for r in KINDS.values() for name in r.names()]
ANY_LENGTH = Annotated[tuple[Count, ...], Len(1, 3), Distinct()]


@pytest.mark.parametrize(
    ("hint", "admitted", "refused"),
    [
        (Positive, [1e-300, 1, 3.5, np.float64(2)], [0, -1, math.nan, math.inf, -math.inf, True, "1", None, 10**400]),
        (NonNegative, [0, 0.0], [-1e-300, math.inf]),
        (float, [-1e300, 0], [math.nan, math.inf, False]),
        (Annotated[NonNegative, OrInfinite()], [0, math.inf], [math.nan, -math.inf]),
        (Share, [0, 1, 0.5], [-0.1, 1.1]),
        (Probability, [0, 0.999], [1]),
        (ProperShare, [0.5], [0, 1]),
        (Count, [1, np.int64(4)], [0, 1.0, 1.5, True, "1"]),
        (Index, [0], [-1]),
        (Seed, [0, 2**63 - 1], [2**63, -1]),
        (Count | None, [None, 3], [0, "null"]),
        (Annotated[int, MultipleOf(4)], [8], [6]),
        (tuple[Probability, Probability], [[0.9, 0.95], (0, 0)], [[0.9], [0.9, 1.0], 0.9, "ab", [0.1, 0.1, 0.1]]),
        (ANY_LENGTH, [[1], [1, 2, 3]], [[], [1, 1], [1, 2, 3, 4], [0]]),
        (Unit, ["words", Unit.words], ["word", 3]),
        (Annotated[str, OneOf(("a", "b"))], ["a"], ["c", 1]),
        (dict[str, Positive], [{}, {"a": 1}], [{"a": 0}, 3]),
        (bool, [True, False], [1, 0, "true"]),
        (Path, [Path("a"), "a"], [3]),
        (Any, [None, 3, "a"], []),
    ],
)  # fmt: skip
def test_an_annotation_admits_these_and_no_others(hint: Any, admitted: list[Any], refused: list[Any]) -> None:
    assert all(admits(hint, value) for value in admitted)
    assert [value for value in refused if admits(hint, value)] == []


@pytest.mark.parametrize(
    ("hint", "words", "formula"),
    [
        (Positive, "a finite number above 0", "float (> 0)"),
        (float, "a finite number", "float"),
        (Annotated[NonNegative, OrInfinite()], "a number of at least 0", "float (≥ 0)"),
        (Share, "a number from 0 to 1", "float (0 ≤ x ≤ 1)"),
        (ProperShare, "a number above 0 and below 1", "float (0 < x < 1)"),
        (Count | None, "a whole number of at least 1, or null", "int (≥ 1) | None"),
        (Annotated[int, MultipleOf(4), Ge(8)], "a whole number divisible by 4 and of at least 8", "int (≥ 8)"),
        (ANY_LENGTH, "a list of values, at least 1 of them, at most 3 of them, all different, each a whole number of "
         "at least 1", "tuple[int (≥ 1), ...]"),
        (tuple[Share, Count], "2 values, each a number from 0 to 1 and then a whole number of at least 1",
         "tuple[float (0 ≤ x ≤ 1), int (≥ 1)]"),
        (Unit, "characters, bytes or words", "characters | bytes | words"),
    ],
)  # fmt: skip
def test_a_domain_is_worded_for_a_sentence_and_as_a_formula(hint: Any, words: str, formula: str) -> None:
    assert worded(hint) == words
    assert notation(hint) == formula


def test_a_word_that_is_nearly_a_choice_is_asked_after() -> None:
    with pytest.raises(ValueError, match=r"^a=inductro: must be none or inductor \(did you mean 'inductor'\?\)$"):
        refuse("a", "inductro", Annotated[str, OneOf(("none", "inductor"))])


@pytest.mark.parametrize(("registry", "name"), PARTS)
def test_a_part_refuses_every_value_outside_a_knobs_domain(registry: Registry[Any], name: str) -> None:
    for knob, hint in registry.domains(name).items():
        for value in outside(hint):
            with pytest.raises(ValueError) as caught:
                registry.build({"name": name, knob: value})
            assert is_a_sentence(str(caught.value), f"{registry.kind}.{knob}", hint)


@pytest.mark.parametrize(("registry", "name"), PARTS)
def test_a_part_takes_its_defaults_and_values_inside_each_domain(registry: Registry[Any], name: str) -> None:
    knobs = registry.knobs(name)
    registry.build({"name": name} | {k: d for k, (_, d) in knobs.items() if not isinstance(d, type)})
    registry.build({"name": name} | {knob: inside(hint) for knob, hint in registry.domains(name).items()})


@pytest.mark.parametrize(("registry", "name"), PARTS)
def test_every_number_of_a_part_is_bounded_or_a_bare_float_on_purpose(registry: Registry[Any], name: str) -> None:
    free = {"lstm.forget_bias", "smeared.mix"}  # biases before a sigmoid
    for knob, hint in registry.domains(name).items():
        assert hint not in (int, float) or f"{name}.{knob}" in free


def test_a_knob_that_the_part_does_not_have_is_refused_with_the_nearest() -> None:
    with pytest.raises(ValueError, match=r"^layers.2.norm=rmsnorm: there is no setting 'epss' \(did you mean 'eps'"):
        norms.build({"name": "rmsnorm", "epss": 1.0}, "layers.2.norm")


@pytest.mark.parametrize("config", [{}, None, 3, {"eps": 1.0}])
def test_a_configuration_without_a_part_is_refused(config: Any) -> None:
    with pytest.raises(ValueError, match=r"must be \{name: PART\}, the part one of dyt, layernorm"):
        norms.build(config)


def test_a_word_for_an_enum_reaches_the_part_as_the_member(tmp_path: Path) -> None:
    built: Any = KINDS["data"].build({"name": "text", "path": tmp_path, "unit": "words"})
    assert built.keywords["unit"] is Unit.words


def test_a_default_outside_its_own_domain_breaks_the_contract(monkeypatch: pytest.MonkeyPatch) -> None:
    def planted(width: int, *, share: Annotated[float, Interval(ge=0, le=1)] = 2.0) -> object:
        return width, share

    monkeypatch.setattr(norms, "_parts", norms._parts | {"planted": planted})
    with pytest.raises(BrokenContract, match=r"its knob share is 2.0 by default: must be a number from 0 to 1"):
        has_plain_knobs(norms, "planted")
