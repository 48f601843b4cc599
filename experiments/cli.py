"""The command `knockout`."""

import os
import sys
from collections.abc import Callable
from importlib import import_module

COMMANDS: dict[str, tuple[str, str]] = {
    "run": ("experiments.run", "train a study, or axes: knockout run norm=layernorm,rmsnorm 'seed=range(6)'"),
    "plan": ("experiments.planning", "what `run` would do with the same words: arms, hours, what the seeds could see"),
    "status": ("experiments.status", "how studies stand: done, running, failed and why, left"),
    "retry": ("experiments.retry", "run a study again from its folder, for what is not finished"),
    "demo": ("experiments.demo", "what a norm does to a small Transformer: 24 short trials and their report"),
    "parts": ("experiments.catalogue", "every part: its formula, its knobs, its source"),
    "new": ("experiments.new", "start a part of your own: knockout new norm my_norm"),
    "check": ("experiments.check", "hold a part to its contract: knockout check plugins/norm/my_norm.py"),
    "probe": (
        "experiments.probe",
        "ask a trained model (TRIAL --prompt …), or untrained ones (model.depth=2,4,8)",
    ),
    "sample": ("experiments.sample", "let a trained model go on with a text: knockout sample TRIAL --prompt …"),
    "report": ("analysis.report", "write a study's page again from its results folder; all of them, and an index"),
    "compare": ("analysis.compare", "the effects of two studies side by side"),
    "verify": ("experiments.verify", "train some trials of a study again: are they the same bits?"),
    "sync": ("experiments.sync", "bring MLflow up to date with a results folder"),
    "pull": ("experiments.pull", "a study's histories out of an MLflow server, as one table"),
    "ui": ("experiments.dashboard", "open MLflow on a results folder"),
}


def main() -> None:
    """Hand the words after the command to the module that has it; modules are loaded only when asked for."""
    command, words = (sys.argv[1:2] or ["--help"])[0], sys.argv[2:]
    if command in ("-h", "--help", "help"):
        print(usage())
        return
    if command not in COMMANDS:
        from components.registry import unknown

        sys.exit(f"knockout: {unknown('command', command, COMMANDS)}")
    run: Callable[[list[str]], None] = import_module(COMMANDS[command][0]).main
    try:
        run(words)
    except BrokenPipeError:  # whoever read our output, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError) as error:
        sys.exit(f"knockout: {error}")


def usage() -> str:
    """What to type."""
    lines = [f"  {name:8} {purpose}" for name, (_, purpose) in COMMANDS.items()]
    purpose = "knockout COMMAND …: knock one part out of a Transformer and learn what it did"
    settings = "Settings are Hydra's: KIND=PART, KIND.KNOB=VALUE; several values, with commas between, are an axis."
    return "\n".join([purpose, "", *lines, "", settings, "`knockout run --cfg job` shows them all."])


if __name__ == "__main__":
    main()
