"""Tasks are what they say: their answers follow from what can be seen, and nothing else gives them away."""

from collections.abc import Callable
from typing import Any

import pytest
import torch

from experiments.data import IGNORED, Batch, Task, datas

Answer = Callable[[list[int], int, Any], int]


def recall(row: list[int], at: int, data: Any) -> int:
    pairs = dict(zip(row[: 2 * data.pairs : 2], row[1 : 2 * data.pairs : 2], strict=True))
    return pairs[row[at]]


def copy(row: list[int], at: int, data: Any) -> int:
    return row[at - data.symbols]


def lookup(row: list[int], at: int, data: Any) -> int:
    return (row[0] + 3 * row[3]) % data.vocabulary


def agreement(row: list[int], at: int, data: Any) -> int:
    return 2 * data.nouns + data.prepositions + row[0] % 2


def coreference(row: list[int], at: int, data: Any) -> int:
    animal, thing = sorted((row[0], row[2]))
    return thing if row[6] >= 2 * data.nouns + data.properties else animal


def sense(row: list[int], at: int, data: Any) -> int:
    return (row[-1] - 2 * data.senses + row[0] - data.senses) % data.senses


RULES: dict[str, Answer] = {rule.__name__: rule for rule in (recall, copy, lookup, agreement, coreference, sense)}
TASKS = [name for name in datas.names() if name not in ("text", "pydoc")]


def drawn(name: str, context: int = 64) -> tuple[Any, Batch]:
    data: Any = datas[name](context)
    return data, data.train(64, 0, 0)


@pytest.mark.parametrize("name", TASKS)
def test_a_task_is_drawn_from_seed_and_step_alone_within_its_vocabulary(name: str) -> None:
    data, batch = drawn(name)
    assert isinstance(data, Task)
    assert torch.equal(batch.inputs, datas[name](64).train(64, 0, 0).inputs)
    assert not torch.equal(batch.inputs, data.train(64, 0, 1).inputs)
    assert not torch.equal(batch.inputs, data.train(64, 1, 0).inputs)
    assert torch.equal(data.validation().inputs, data.validation().inputs)
    scored = batch.targets[batch.targets != IGNORED]
    assert int(batch.inputs.min()) >= 0 and int(batch.inputs.max()) < data.vocabulary
    assert int(scored.min()) >= 0 and int(scored.max()) < data.vocabulary
    assert batch.scored == len(scored) > 0


@pytest.mark.parametrize("name", RULES)
def test_every_scored_answer_follows_from_what_was_seen(name: str) -> None:
    data, batch = drawn(name)
    for row, targets in zip(batch.inputs.tolist(), batch.targets.tolist(), strict=True):
        asked = [at for at, target in enumerate(targets) if target != IGNORED]
        assert asked
        for at in asked:
            assert targets[at] == RULES[name](row, at, data)
    assert data.floor == 0


def test_induction_repeats_a_block_at_places_that_change() -> None:
    _, batch = drawn("induction")
    places = set()
    for row, targets in zip(batch.inputs.tolist(), batch.targets.tolist(), strict=True):
        asked = [at for at, target in enumerate(targets) if target != IGNORED]
        assert asked == list(range(asked[0], asked[-1] + 1))
        block = [row[asked[0]], *(targets[at] for at in asked)]
        earlier = [s for s in range(32) if row[s : s + len(block)] == block]
        assert earlier, "the second copy has a first"
        places.add((earlier[0], asked[0], len(block)))
    assert len({asked - earlier for earlier, asked, _ in places}) > 10


def test_iid_has_the_entropy_of_its_vocabulary_as_floor() -> None:
    data, _ = drawn("iid")
    assert data.floor == pytest.approx(2.7725887)
    counts = torch.bincount(datas["iid"](64).train(1000, 0, 0).targets.flatten(), minlength=16).double()
    assert float((counts / counts.sum() - 1 / 16).abs().max()) < 0.005


@pytest.mark.parametrize("name", ["agreement", "coreference", "sense", "recall", "lookup"])
def test_no_answer_is_likelier_than_chance(name: str) -> None:
    data: Any = datas[name](64)
    targets = data.train(4000, 0, 0).targets
    counts = torch.bincount(targets[targets != IGNORED]).double()
    shares = counts[counts > 0] / counts.sum()
    assert float(shares.max() / shares.min()) < 1.6


@pytest.mark.parametrize(
    ("name", "context", "knobs", "words"),
    [
        ("recall", 16, {}, "24 tokens, more than model.context=16"),
        ("recall", 64, {"pairs": 17}, "need data.vocabulary of at least 34"),
        ("induction", 8, {}, "at least 16"),
        ("lookup", 64, {"length": 3}, "the fourth token"),
        ("iid", 64, {"vocabulary": 1}, "nothing to predict"),
    ],
)
def test_a_task_that_does_not_fit_is_refused(name: str, context: int, knobs: dict[str, int], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        datas[name](context, **knobs)
