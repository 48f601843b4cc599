"""The demonstration: one study from nothing to its verdict."""

from experiments.run import main as run


def main(words: list[str]) -> None:
    """Run `study=norm`; further words are settings like those of `knockout run`."""
    run(["study=norm", *words])
