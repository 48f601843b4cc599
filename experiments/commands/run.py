"""Train one model, or a study of many: `python -m experiments.commands.run norm=layernorm,rmsnorm "seed=range(6)"`.

Hydra's own command line; it runs a single trial and a sweep alike, with `-m` and without.
"""

import gc
import os
import re
import shlex
import signal
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from unittest import mock

import hydra
from hydra.core.hydra_config import HydraConfig
from omegaconf import DictConfig

from analysis.record.study_file import find_study, read_study
from analysis.record.summary import COMPLETE, read_summary
from experiments.commands.arguments import command_parser
from experiments.commands.hydra_plugins import first_endpoint, register_hydra_plugins
from experiments.launch.queue import run_trials
from experiments.lifecycle.state import failure_text
from experiments.lifecycle.terminal import echo, printable
from experiments.settings.errors import explain_error
from experiments.settings.overrides import options_first, override_text, plugins_among, single_level_axes
from experiments.settings.plugins import load_plugins, refuse_plugins_inside
from experiments.settings.schema import register_options
from experiments.study.write import prepare_single_trial

CONF = Path(__file__).resolve().parents[2] / "conf"


# Hydra's own commands, which it does not take together with --multirun; anything else is a sweep, if only of one trial.
HYDRA_COMMANDS = {
    "--cfg",
    "-c",
    "--info",
    "-i",
    "--help",
    "-h",
    "--hydra-help",
    "--version",
    "--shell-completion",
    "-sc",
    "-m",
}


CONFIG_FOLDER_OPTIONS = ("--config-dir", "-cd", "--config-path", "-cp")
# Settings of Hydra, and options that are chosen by a path.
HYDRA_SETTING = re.compile(r"\W*hydra\b|.*_target_|[^.=]*=.*\.\.")
# The choice of a launcher or a sweeper that is installed here, and a word or a number for it.
HARMLESS_HYDRA_SETTING = re.compile(r"hydra/(launcher|sweeper)=\w+|hydra\.(launcher|sweeper)\.(?!_)\w+=[\w.-]+")


PROBE_DIAGNOSTICS = (
    "gradient_norm", "matrix_gradient", "token_gradient", "query_gradient", "attention", "stream", "branch", "log_z",
    "gradient_through_time",
)  # fmt: skip


UNTRAINED = (
    "trainer.max_steps=1",
    "schedule=constant",
    "optimizer.lr=0",
    f"diagnostic=[{','.join(PROBE_DIAGNOSTICS)}]",
    "runtime.smoke=0",
    "runtime.keep_gb=0",
    "runtime.unmeasured=again",
)


def run_hydra(arguments: Sequence[str] | None = None) -> None:
    """Run Hydra on these arguments; an error ends it with an explanation and status 1."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    multirun = [] if (HYDRA_COMMANDS | {"--multirun"}) & {word.partition("=")[0] for word in words} else ["--multirun"]
    sys.argv = ["knockout run", *multirun, *options_first(single_level_axes(words))]
    wants_trace = "HYDRA_FULL_ERROR" in os.environ
    for number in (signal.SIGTERM, signal.SIGUSR1):  # Slurm sends either before time is up
        signal.signal(number, signal.default_int_handler)
    try:
        # Hydra would print errors in its own words and exit; with this it passes them on.
        with mock.patch.dict(os.environ, HYDRA_FULL_ERROR="1"):
            load_plugins(plugins_among(words))
            gc.set_threshold(200_000)  # configurations are large trees that stay: looking for waste takes a tenth
            register_options()
            register_hydra_plugins()
            hydra.main(version_base="1.3", config_path=str(CONF), config_name="config")(run_single_trial)()
    except KeyboardInterrupt:
        sys.exit(f"interrupted; this command finishes the rest: {shlex.join(['knockout', 'run', *words])}")
    except Exception as error:
        if wants_trace:
            raise
        sys.exit(printable(explain_error(error)))


def run(words: list[str]) -> None:
    """`knockout run SETTINGS`: train what is missing of a study, then report."""
    run_hydra(words)


def demo(words: list[str]) -> None:
    """`knockout demo`: run `study=norm`; further words are settings like those of `knockout run`."""
    run_hydra(["study=norm", *words])


def plan(words: list[str]) -> None:
    """`knockout plan SETTINGS`: show what `knockout run` would do with these words, and train nothing."""
    run_hydra([*words, "hydra/sweeper=knockout_plan"])


def retry(words: list[str]) -> None:
    """`knockout retry STUDY`: run the study's own command again, for the trials that are not finished.

    Raises FileNotFoundError for a study that the results folder does not have, ValueError for a command that could
    run something of that folder.
    """
    parser = command_parser("retry", "Run the trials of a study that are not finished.")
    parser.add_argument("study", help="the study's name")
    arguments = parser.parse_args(words)
    command = shlex.split(read_study(find_study(arguments.results, arguments.study)).command)[2:]
    kept = [word for word in command if not word.startswith(("runtime.results=", "runtime.failed="))]
    refuse_untrusted_words(arguments.results, kept)
    echo(f"knockout run {shlex.join(kept)}")
    run_hydra([*kept, f"runtime.results={override_text(str(arguments.results))}"])


def refuse_untrusted_words(results: Path, words: Sequence[str]) -> None:
    """Raises ValueError for words of a recorded command by which a results folder could have a program run.

    Those are plugins and configurations that lie inside it, and settings of Hydra that can name any function.
    """
    refuse_plugins_inside(results, plugins_among(words))
    folders = [after for word, after in pairwise([*words, ""]) if word in CONFIG_FOLDER_OPTIONS]
    folders += [word.partition("=")[2] for word in words if word.partition("=")[0] in CONFIG_FOLDER_OPTIONS]
    inside = [folder for folder in folders if Path(folder).resolve().is_relative_to(results.resolve())]
    hydra = [word for word in words if HYDRA_SETTING.match(word) and not HARMLESS_HYDRA_SETTING.fullmatch(word)]
    if inside or hydra:
        raise ValueError(
            f"the study's command has {shlex.join([*inside, *hydra])}, by which a results folder could have a program "
            f"run; if you trust it, type it yourself: knockout run {shlex.join(words)}"
        )


def probe(words: list[str]) -> None:
    """`knockout probe TRIAL` measures a trained model, `knockout probe SETTINGS` models as they are initialised.

    The latter are trials of one step at a learning rate of 0: they land in the same folders and reports as any study.
    """
    if words and ("=" in words[0] or words[0].startswith(("+", "~"))):
        typed = {word.lstrip("+").partition("=")[0] for word in words}
        run_hydra([*(word for word in UNTRAINED if word.partition("=")[0] not in typed), *words])
        return
    from experiments.commands.inspect import probe_trial  # imports Lightning, which takes three seconds

    probe_trial(words)


def run_single_trial(config: DictConfig) -> float:
    """The task function that other launchers call, once per job: train the trial; its study's first endpoint."""
    folder = Path(config.trial) if config.trial else prepare_single_trial(config)
    if read_summary(folder) is None and run_trials([folder], config.runtime, beside=None).get(folder) not in COMPLETE:
        raise RuntimeError(f"trial {folder.name} failed: {failure_text(folder)}")
    return first_endpoint(folder, config.study.endpoints, HydraConfig.get().sweeper)


if __name__ == "__main__":
    run_hydra()
