"""Parts on a terminal: list them, start one, check one."""

import argparse
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from components.contract.checks import CHECKS
from components.contract.example import COMPANIONS
from components.registry import Registry, kinds, origin, unknown
from experiments.settings.part_docs import part_docs
from experiments.settings.plugins import PLUGINS_FOLDER, import_file, load_plugins


def parts(words: list[str]) -> None:
    """`knockout parts [KIND]`. Raises ValueError for a kind there is not."""
    load_plugins()
    known = {**kinds("components"), **kinds("experiments")}
    for kind in words:
        if kind not in known:
            raise ValueError(unknown("kind", kind, known))
    for entry in part_docs():
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


def check(words: list[str]) -> None:
    """Check one part, or all parts of a file; exits with 1 if one of them breaks its contract."""
    parser = argparse.ArgumentParser("knockout check", description="Hold parts to the contracts of their kinds.")
    parser.add_argument("part", help="KIND=NAME, or a file that registers parts")
    asked = parser.parse_args(words).part
    chosen = _part_named(asked) if "=" in asked else _parts_in_file(Path(asked))
    broken = [line for registry, name in chosen for line in broken_checks(registry, name)]
    if broken:
        raise SystemExit("\n".join(broken))
    print("\n".join(f"{registry.kind}={name} keeps its contract: {len(CHECKS)} checks" for registry, name in chosen))


def broken_checks(registry: Registry[Any], name: str) -> Iterator[str]:
    """A sentence for each check that the part does not pass."""
    for check in CHECKS:
        try:
            check(registry, name)
        except (Exception, SystemExit) as error:  # whatever a part under test raises is what is wrong with it
            kind = "" if isinstance(error, AssertionError) else f"{type(error).__name__}: "
            yield f"{registry.kind}={name} breaks “{check.__name__.replace('_', ' ')}”: {kind}{error}"


def _part_named(asked: str) -> list[tuple[Registry[Any], str]]:
    load_plugins()
    kind, _, name = asked.partition("=")
    known = kinds("components")
    if kind not in known:
        raise ValueError(unknown("kind of component", kind, known))
    if name not in known[kind].names():
        raise ValueError(unknown(kind, name, known[kind].names()))
    return [(known[kind], name)]


def _parts_in_file(path: Path) -> list[tuple[Registry[Any], str]]:
    """The parts that the file registers, whether it was loaded before or not."""
    before = {(kind, name) for kind, registry in kinds("components").items() for name in registry.names()}
    import_file(path)
    registries = kinds("components")
    found = [(r, name) for r in registries.values() for name in r.names() if (r.kind, name) not in before]
    if not found:
        raise ValueError(
            f"{path} registers no component; a part starts with a line like @norms.register({path.stem!r})"
        )
    return found


NEW_PART_HEADER = """\
# A part of the kind {kind}, started from `{start}` ({source}).
# Positional parameters ({wiring}) are wiring: the model gives them, and their names stay as they are.
# Parameters behind the * are knobs: {kind}.KNOB=VALUE sets them; give each a type and a default.
# `knockout check {path}` holds the part to its contract; `knockout run {kind}={start},{name}` compares it.
"""


def new(words: list[str]) -> None:
    """Write `plugins/KIND/NAME.py`; raises ValueError for a kind there is not, FileExistsError for a file there is."""
    parser = argparse.ArgumentParser("knockout new", description="Write a part to start from.")
    parser.add_argument("kind", help="its kind: norm, ffn, position, …")
    parser.add_argument("name", help="its name: a word")
    given = parser.parse_args(words)
    path = PLUGINS_FOLDER / given.kind / f"{given.name}.py"
    text = new_part_source(given.kind, given.name, path)
    if path.exists():
        raise FileExistsError(f"{path} is there already; take another name")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    print(f"{path}: edit it, then `knockout check {path}`")


def new_part_source(kind: str, name: str, path: Path) -> str:
    """The file: a comment on what is what, then the plainest part under the new name."""
    known = kinds("components")
    if kind not in known:
        raise ValueError(unknown("kind of component", kind, known))
    if not name.isidentifier():
        raise ValueError(f"{name!r} is no name for a part: letters, digits and _ only")
    if name in known[kind].names():
        raise ValueError(f"there is a {kind} {name!r} already: {origin(known[kind][name])}")
    start = COMPANIONS[kind]
    source = Path(str(inspect.getsourcefile(known[kind][start])))
    wiring = ", ".join(known[kind].wiring) or "none"
    head = NEW_PART_HEADER.format(kind=kind, name=name, start=start, source=source.name, path=path, wiring=wiring)
    return head + source.read_text(encoding="utf-8").replace(f'.register("{start}")', f'.register("{name}")')
