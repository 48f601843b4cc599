"""Hold a part to the contract of its kind, and say what to mend: `knockout check norm=my_norm`, or a file."""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from components.contract import CHECKS
from components.registry import Registry, kinds, unknown
from experiments import plugins


def main(words: list[str]) -> None:
    """Check one part, or all parts of a file; exits with 1 if one of them breaks its contract."""
    parser = argparse.ArgumentParser("knockout check", description="Hold parts to the contracts of their kinds.")
    parser.add_argument("part", help="KIND=NAME, or a file that registers parts")
    asked = parser.parse_args(words).part
    chosen = _named(asked) if "=" in asked else _in_file(Path(asked))
    broken = [line for registry, name in chosen for line in failures(registry, name)]
    if broken:
        raise SystemExit("\n".join(broken))
    print("\n".join(f"{registry.kind}={name} keeps its contract: {len(CHECKS)} checks" for registry, name in chosen))


def failures(registry: Registry[Any], name: str) -> Iterator[str]:
    """A sentence for each check that the part does not pass."""
    for check in CHECKS:
        try:
            check(registry, name)
        except Exception as error:  # whatever a part under test raises is what is wrong with it
            kind = "" if isinstance(error, AssertionError) else f"{type(error).__name__}: "
            yield f"{registry.kind}={name} breaks “{check.__name__.replace('_', ' ')}”: {kind}{error}"


def _named(asked: str) -> list[tuple[Registry[Any], str]]:
    plugins.load()
    kind, _, name = asked.partition("=")
    known = kinds("components")
    if kind not in known:
        raise ValueError(unknown("kind of component", kind, known))
    if name not in known[kind].names():
        raise ValueError(unknown(kind, name, known[kind].names()))
    return [(known[kind], name)]


def _in_file(path: Path) -> list[tuple[Registry[Any], str]]:
    """The parts that the file registers, whether it was loaded before or not."""
    before = {(kind, name) for kind, registry in kinds("components").items() for name in registry.names()}
    plugins.run_file(path)
    registries = kinds("components")
    found = [(r, name) for r in registries.values() for name in r.names() if (r.kind, name) not in before]
    if not found:
        raise ValueError(
            f"{path} registers no component; a part starts with a line like @norms.register({path.stem!r})"
        )
    return found
