"""Every part, as its own declaration tells it: for a terminal, and for the table in the README."""

import inspect
import sys
from collections.abc import Iterator
from dataclasses import astuple, dataclass
from pathlib import Path

from components.registry import Registry, kinds, unknown
from experiments import plugins

BEGIN, END = "<!-- parts: `make readme` writes what is between these lines -->", "<!-- end of parts -->"


@dataclass(frozen=True)
class Entry:
    """One part: what it computes, its knobs with types and defaults, where it comes from."""

    kind: str
    name: str
    formula: str
    knobs: str
    source: str


def entries() -> Iterator[Entry]:
    """All parts of all kinds, components first."""
    for kind, registry in {**kinds("components"), **kinds("experiments")}.items():
        for name in registry.names():
            text = inspect.getdoc(registry[name]) or ""
            first, _, source = text.partition("Source: ")
            yield Entry(kind, name, _paragraph(first), _knobs(registry, name), _paragraph(source))


def _paragraph(text: str) -> str:
    """The lines up to an empty one, as one."""
    return " ".join(text.partition("\n\n")[0].split())


def _knobs(registry: Registry[object], name: str) -> str:
    found = registry.knobs(name).items()
    return ", ".join(
        f"{knob}: {_type(hint)}" + ("" if default is inspect.Parameter.empty else f" = {default}")
        for knob, (hint, default) in found
    )


def _type(hint: object) -> str:
    return hint.__name__ if inspect.isclass(hint) and not hasattr(hint, "__args__") else str(hint)


def table() -> str:
    """The parts as a Markdown table.

    >>> next(line for line in table().splitlines() if "`rmsnorm`" in line)[:55]
    '| norm | `rmsnorm` | y = gain · x / √(mean(x²) + eps) |'
    """
    cells = ([each.replace("|", "\\|") for each in astuple(entry)] for entry in entries())
    rows = [f"| {kind} | `{name}` | {formula} | {knobs} | {source} |" for kind, name, formula, knobs, source in cells]
    return "\n".join(["| kind | part | what it does | knobs | source |", "|---|---|---|---|---|", *rows])


def fill(readme: Path) -> None:
    """Write the table into a file, between its two marks."""
    before, _, rest = readme.read_text(encoding="utf-8").partition(BEGIN)
    readme.write_text(f"{before}{BEGIN}\n{table()}\n{END}{rest.partition(END)[2]}", encoding="utf-8")


def main(words: list[str]) -> None:
    """`knockout parts [KIND]`. Raises ValueError for a kind there is not."""
    plugins.load()
    known = {**kinds("components"), **kinds("experiments")}
    for kind in words:
        if kind not in known:
            raise ValueError(unknown("kind", kind, known))
    for entry in entries():
        if not words or entry.kind in words:
            print(f"{entry.kind}={entry.name}\n    {entry.formula}")
            print(
                "".join(
                    f"    {label}: {value}\n"
                    for label, value in (("knobs", entry.knobs), ("source", entry.source))
                    if value
                ),
                end="",
            )


if __name__ == "__main__":
    fill(Path(sys.argv[1]))
