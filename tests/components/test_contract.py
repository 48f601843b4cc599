"""Every registered part keeps the contract of its kind; the checks see parts that do not."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from components import contract
from components.attention import attentions
from components.attention.softmax import Softmax
from components.broken import BrokenContract
from components.contract import CHECKS
from components.example import parts
from components.ffn import ffns
from components.linear import Linear
from components.norm import norms
from components.registry import Registry


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize(("registry", "name"), [pytest.param(r, n, id=f"{r.kind}={n}") for r, n in parts()])
def test_part_keeps_its_contract(
    registry: Registry[Any], name: str, check: Callable[[Registry[Any], str], None]
) -> None:
    assert name in registry.names()
    check(registry, name)


class Leaking(nn.Module):
    """y = x + mean of all tokens: looks ahead."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.width = width

    def forward(self, x: Tensor) -> Tensor:
        return x + x.mean(-2, keepdim=True)


class Unused(nn.Module):
    """y = x: with a parameter that nothing reads."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.gain = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        return x


class Buffered(nn.Module):
    """y = x: saves a table."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.register_buffer("table", torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        return x


class Wide(nn.Module):
    """y = x, twice as wide."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.map = Linear(width, 2 * width)

    def forward(self, x: Tensor) -> Tensor:
        return self.map(x)


class Upcast(nn.Module):
    """y = x in float32."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.width = width

    def forward(self, x: Tensor) -> Tensor:
        return x.float()


class Silent(nn.Module):
    def __init__(self, width: int, *, first: bool = True, second: bool = True) -> None:
        super().__init__()


class Random(nn.Module):
    """y = x and noise."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.width = width

    def forward(self, x: Tensor) -> Tensor:
        return x + torch.rand(x.shape)


class Deaf(nn.Module):
    """y = x convolved with one token, whose weights no init knows."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.map = nn.Conv1d(width, width, 1)

    def forward(self, x: Tensor) -> Tensor:
        return self.map(x.mT).mT


class Lazy(nn.Module):
    """y = x, and twice x once it is compiled."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.width = width

    def forward(self, x: Tensor) -> Tensor:
        return 2 * x if torch.compiler.is_compiling() else x


class TopLeft(nn.Module):
    """softmax(q kᵀ) v with torch's own causal mask, which counts queries from the first key."""

    def weights(self, q: Tensor, k: Tensor, bias: Tensor | None) -> Tensor:
        return Softmax().weights(q, k, bias)

    def forward(self, q: Tensor, k: Tensor, v: Tensor, bias: Tensor | None) -> Tensor:
        return scaled_dot_product_attention(q, k, v, bias, is_causal=bias is None, scale=1.0)


class Weightless(TopLeft):
    """weights that are not what is read."""

    def weights(self, q: Tensor, k: Tensor, bias: Tensor | None) -> Tensor:
        return torch.ones(*q.shape[:-1], k.shape[-2], dtype=q.dtype) / k.shape[-2]


Plant = Callable[[Registry[Any], type[nn.Module]], str]


@pytest.fixture
def planted() -> Iterator[Plant]:
    """Register a part for one test."""
    before = {registry: dict(registry._parts) for registry in (norms, ffns, attentions)}

    def register(registry: Registry[Any], part: type[nn.Module]) -> str:
        registry.register("planted")(part)
        return "planted"

    yield register
    for registry, parts_before in before.items():
        registry._parts.clear()
        registry._parts.update(parts_before)


@pytest.mark.parametrize(
    ("registry", "part", "check", "words"),
    [
        (norms, Unused, contract.sends_gradient, "gain gets no gradient"),
        (norms, Buffered, contract.repeats_itself, "table"),
        (norms, Wide, contract.keeps_shape_and_type, "must be ... W = (2, 12)"),
        (norms, Upcast, contract.keeps_shape_and_type, "torch.float32 for inputs of torch.bfloat16"),
        (norms, Silent, contract.states_its_formula, "Source"),
        (norms, Silent, contract.has_plain_knobs, "2 boolean knobs"),
        (norms, Random, contract.repeats_itself, "two different results"),
        (ffns, Deaf, contract.heeds_the_init, "the init does not reach map.weight, which starts the same"),
        (norms, Lazy, contract.compiles, "other results under torch.compile"),
        (ffns, Leaking, contract.sees_no_future, "lets a token see the one after it"),
        (ffns, Leaking, contract.feels_no_future, "sends gradient from a token to the one after it"),
        (attentions, TopLeft, contract.goes_on, "the last 1 of 5 queries read something else"),
        (attentions, Weightless, contract.explains_itself, "not its weights times the values"),
    ],
)
def test_a_broken_part_is_told_why(
    planted: Plant, registry: Registry[Any], part: type[nn.Module], check: Callable[..., None], words: str
) -> None:
    with pytest.raises(BrokenContract, match=re.escape(words)):
        check(registry, planted(registry, part))
