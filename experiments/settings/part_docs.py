"""What every part's own declaration says of it: formula, knobs, source."""

import inspect
from collections.abc import Iterator
from dataclasses import dataclass

from components.domains import notation
from components.registry import Registry, kinds


@dataclass(frozen=True)
class PartDoc:
    """One part: what it computes, its knobs with domains and defaults, where it comes from."""

    kind: str
    name: str
    formula: str
    knobs: str
    source: str


def part_docs() -> Iterator[PartDoc]:
    """All parts of all kinds, components first."""
    for kind, registry in {**kinds("components"), **kinds("experiments")}.items():
        for name in registry.names():
            text = inspect.getdoc(registry[name]) or ""
            first, _, source = text.partition("Source: ")
            yield PartDoc(kind, name, _first_paragraph(first), _knobs_text(registry, name), _first_paragraph(source))


def _first_paragraph(text: str) -> str:
    """The lines up to an empty one, as one."""
    return " ".join(text.partition("\n\n")[0].split())


def _knobs_text(registry: Registry[object], name: str) -> str:
    domains, knobs = registry.domains(name), registry.knobs(name).items()
    return ", ".join(
        f"{knob}: {notation(domains[knob])}" + ("" if default is inspect.Parameter.empty else f" = {default}")
        for knob, (_, default) in knobs
    )
