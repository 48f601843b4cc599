"""Every registered part keeps the contract of its kind; the checks see parts that do not."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from components import contract
from components.contract import CHECKS, BrokenContract
from components.example import parts
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


@pytest.fixture
def planted() -> Iterator[Callable[[type[nn.Module]], str]]:
    """Register a part for one test."""
    before = dict(norms._parts)

    def register(part: type[nn.Module]) -> str:
        norms.register("planted")(part)
        return "planted"

    yield register
    norms._parts.clear()
    norms._parts.update(before)


@pytest.mark.parametrize(
    ("part", "check", "words"),
    [
        (Unused, contract.sends_gradient, "gain gets no gradient"),
        (Buffered, contract.repeats_itself, "table"),
        (Wide, contract.keeps_shape_and_type, "must be ... W = (2, 12)"),
        (Upcast, contract.keeps_shape_and_type, "torch.float32 for inputs of torch.bfloat16"),
        (Silent, contract.states_its_formula, "Source"),
        (Silent, contract.has_plain_knobs, "2 boolean knobs"),
        (Random, contract.repeats_itself, "two different results"),
    ],
)
def test_a_broken_part_is_told_why(
    planted: Callable[[type[nn.Module]], str], part: type[nn.Module], check: Callable[..., None], words: str
) -> None:
    with pytest.raises(BrokenContract, match=words.replace("(", r"\(").replace(")", r"\)").replace("...", r"\.\.\.")):
        check(norms, planted(part))


def test_a_look_ahead_is_seen() -> None:
    from components.ffn import ffns

    before = dict(ffns._parts)
    try:
        ffns.register("leaking")(Leaking)
        with pytest.raises(BrokenContract, match="lets a token see the one after it"):
            contract.sees_no_future(ffns, "leaking")
    finally:
        ffns._parts.clear()
        ffns._parts.update(before)
