"""The command `knockout`."""

import os
import sys
from collections.abc import Callable
from importlib import import_module

from analysis.record.files import os_error_text
from experiments.lifecycle.terminal import printable

# The module and function of each command, and its line in the help; a module is imported only for its own command.
COMMANDS: dict[str, tuple[str, str, str]] = {
    "run": ("run", "run", "train a study, or axes: knockout run norm=layernorm,rmsnorm 'seed=range(6)'"),
    "plan": ("run", "plan", "show what `run` would do: arms, device-hours, effects that the seeds could detect"),
    "status": ("status", "status", "show the state of studies: done, running, failed and why, left"),
    "retry": ("run", "retry", "run a study again from its folder, for the trials that are not finished"),
    "demo": ("run", "demo", "measure what a norm does to a small Transformer: 24 short trials and their report"),
    "parts": ("parts", "parts", "list every part: its formula, its knobs, its source"),
    "new": ("parts", "new", "start a part of your own: knockout new norm my_norm"),
    "check": ("parts", "check", "check that a part keeps its contract: knockout check plugins/norm/my_norm.py"),
    "probe": ("run", "probe", "measure a trained model (TRIAL --prompt …), or untrained ones (model.depth=2,4,8)"),
    "sample": ("inspect", "sample", "generate a continuation with a trained model: knockout sample TRIAL --prompt …"),
    "report": ("report", "report", "write the pages of studies again from the results folder, and an index of all"),
    "compare": ("report", "compare", "show the effects of two studies side by side"),
    "verify": ("verify", "verify", "train some trials of a study again and compare them bit by bit"),
    "sync": ("mlflow", "sync", "bring MLflow up to date with a results folder"),
    "pull": ("mlflow", "pull", "fetch a study's histories from an MLflow server as one table"),
    "ui": ("mlflow", "ui", "open MLflow on a results folder"),
}


def main() -> None:
    """Call the function of the command with the words after it; an expected error ends it with a sentence."""
    command, words = (sys.argv[1:2] or ["--help"])[0], sys.argv[2:]
    if command in ("-h", "--help", "help"):
        print(usage())
        return
    if command not in COMMANDS:
        from components.registry import unknown  # imports torch

        sys.exit(f"knockout: {unknown('command', command, COMMANDS)}")
    module, function, _ = COMMANDS[command]
    run: Callable[[list[str]], None] = getattr(import_module(f"experiments.commands.{module}"), function)
    try:
        run(words)
    except BrokenPipeError:  # the reader of our output, such as `head`, has stopped reading
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        sys.exit(printable(f"knockout: {os_error_text(error)}"))
    except ValueError as error:
        sys.exit(printable(f"knockout: {error}"))


def usage() -> str:
    """The help: every command with its purpose."""
    lines = [f"  {name:8} {purpose}" for name, (_, _, purpose) in COMMANDS.items()]
    purpose = "knockout COMMAND …: knock one part out of a Transformer and measure what it did"
    settings = "Settings are Hydra's: KIND=PART, KIND.KNOB=VALUE; several values, with commas between, are an axis."
    return "\n".join([purpose, "", *lines, "", settings, "`knockout run --cfg job` shows all settings."])


if __name__ == "__main__":
    main()
