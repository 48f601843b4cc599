"""Arguments that several commands take."""

from argparse import ArgumentParser
from pathlib import Path


def command_parser(command: str, description: str) -> ArgumentParser:
    """The parser of `knockout COMMAND`, with the option `--results`."""
    parser = ArgumentParser(f"knockout {command}", description=description)
    parser.add_argument("--results", default="results", type=Path, help="the results folder (default: results)")
    return parser


def trial_parser(command: str, description: str) -> ArgumentParser:
    """The parser of a command on one trial."""
    parser = command_parser(command, description)
    parser.add_argument("trial", help="the trial: its id, the beginning of its id, or its folder")
    return parser
