"""The registry refuses what would be ambiguous, in words."""

from typing import Protocol

import pytest
from omegaconf import OmegaConf

from components.norm import norms
from components.registry import Registry
from components.shapes import Vector


class Shape(Protocol):
    def __init__(self, width: int) -> None: ...
    def __call__(self, x: Vector) -> Vector: ...


@pytest.fixture
def shapes() -> Registry[object]:
    return Registry(Shape)


def first(width: int, *, size: float = 1.0, sides: tuple[int, int] = (1, 2)) -> object:
    return width, size, sides


def second(width: int) -> object:
    return width


def wrong(height: int) -> object:
    return height


def test_a_wrong_name_names_the_nearest_and_all() -> None:
    with pytest.raises(
        KeyError,
        match=r"no norm 'rmsnrom' \(did you mean 'rmsnorm'\?\); there are: dyt, layernorm, none, rmsnorm, scalenorm",
    ):
        norms["rmsnrom"]


def test_two_parts_of_one_name_are_refused_with_both_origins(shapes: Registry[object]) -> None:
    shapes.register("square")(first)
    with pytest.raises(ValueError, match=r"test_registry.py:first and in .*test_registry.py:second"):
        shapes.register("square")(second)


def test_the_same_part_twice_is_no_clash(shapes: Registry[object]) -> None:
    shapes.register("square")(first)
    shapes.register("square")(first)
    assert shapes._parts == {"square": first}


def test_wrong_wiring_is_refused_where_it_is_written(shapes: Registry[object]) -> None:
    with pytest.raises(TypeError, match=r"positional parameters are \(height\), the contract .* says \(width\)"):
        shapes.register("square")(wrong)


def test_the_schema_is_the_signature() -> None:
    made = OmegaConf.structured(norms.schema("rmsnorm"))
    assert OmegaConf.to_container(made, enum_to_str=True) == {"name": "rmsnorm", "eps": 1e-5}
    made.eps = "1e-3"
    assert made.eps == 0.001
    with pytest.raises(Exception, match="Invalid value 'layernorm'"):
        made.name = "layernorm"


def test_a_tuple_takes_as_many_values_as_it_declares(monkeypatch: pytest.MonkeyPatch) -> None:
    registry: Registry[object] = Registry(Shape)
    registry.register("square")(first)
    monkeypatch.setattr(registry, "names", lambda: ("square",))
    assert registry.build({"name": "square", "sides": [3, 4]})(5) == (5, 1.0, (3, 4))
    with pytest.raises(ValueError, match=r"sides takes 2 values, was given \[3\]"):
        registry.build({"name": "square", "sides": [3]})
