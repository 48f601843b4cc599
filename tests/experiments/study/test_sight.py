"""What sees the future is found by what it does, before anything trains."""

from collections.abc import Callable, Iterator

import pytest
import torch
from torch import Tensor, nn

from components.mixer import mixers
from components.norm import norms
from components.parts import Parts, Sizes
from experiments.objective import objectives
from experiments.study.arm import resolved_settings
from experiments.study.sight import Sight, try_reach
from experiments.trial.build import build_training
from experiments.trial.meaning import asks_for_later_tokens

Composed = Callable[..., object]


class Mean(nn.Module):
    """The mean over all tokens, those to come among them: a mixer that forgot its mask."""

    def __init__(self, sizes: Sizes, parts: Parts) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(sizes.width))

    def forward(self, x: Tensor, position: nn.Module) -> Tensor:
        return self.weight * x.mean(1, keepdim=True).expand_as(x)


class OverBatch(nn.Module):
    """Divides by a root mean square over the batch's sequences, token by token."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        return self.weight * x / (x.square().mean(0, keepdim=True) + 1e-5).sqrt()


class BatchNorm(nn.BatchNorm1d):
    """BatchNorm over sequences and tokens, with running statistics."""

    def forward(self, input: Tensor) -> Tensor:
        return super().forward(input.transpose(1, 2)).transpose(1, 2)


@pytest.fixture
def plugins() -> Iterator[None]:
    """Parts of a user's."""
    added = [(mixers, "mean", Mean), (norms, "over_batch", OverBatch), (norms, "batchnorm", BatchNorm)]
    for registry, name, part in added:
        registry._parts[name] = part
    yield
    for registry, name, _ in added:
        del registry._parts[name]


def sight(compose: Composed, *words: str, **parts: str) -> Sight:
    config = resolved_settings(compose(*words))  # pyright: ignore[reportArgumentType]
    config |= {kind: {"name": name} for kind, name in parts.items()}
    return try_reach(config, build_training(config)[0])


@pytest.mark.parametrize(
    ("words", "parts", "future", "across"),
    [
        ((), {}, False, False),
        (("mask=full",), {}, True, False),
        (("mask=full", "objective=masked_lm"), {}, False, False),
        (("residual=rezero", "mask=full"), {}, True, False),
        ((), {"mixer": "mean"}, True, False),
        ((), {"norm": "over_batch"}, False, True),
        ((), {"norm": "batchnorm"}, True, True),
        (("mixer=mingru",), {}, False, False),
        (("mixer=lstm",), {}, False, False),
        (("model.dropout=0.5",), {}, False, False),
    ],
)
def test_g10_what_a_model_reads_is_found_by_behaviour(
    compose: Composed, plugins: None, words: tuple[str, ...], parts: dict[str, str], future: bool, across: bool
) -> None:
    expected = Sight(sees_future=future, reads_across_batch=across, untried="")
    assert sight(compose, *words, **parts) == expected


@pytest.mark.parametrize("words", [("attention=linear",), ("mask=strided",), ("position=t5",), ("norm=dyt",)])
def test_no_part_of_ours_is_flagged(compose: Composed, words: tuple[str, ...]) -> None:
    assert sight(compose, *words) == Sight(sees_future=False, reads_across_batch=False, untried="")


def test_a_part_that_fails_on_a_cpu_is_named_and_stops_nothing(
    compose: Composed, plugins: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(self: Mean, x: Tensor, position: nn.Module) -> Tensor:
        raise RuntimeError("no kernel for CPU")

    monkeypatch.setattr(Mean, "forward", fails)
    assert sight(compose, mixer="mean")["untried"] == "RuntimeError: no kernel for CPU"


def test_only_an_objective_whose_answers_come_later_makes_sight_matter() -> None:
    asked = {name: asks_for_later_tokens(objectives[name]()) for name in ("causal_lm", "masked_lm")}
    assert asked == {"causal_lm": True, "masked_lm": False}
