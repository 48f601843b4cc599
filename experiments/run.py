"""Train one model, or a study of many: `python -m experiments.run norm=layernorm,rmsnorm "seed=range(6)"`.

Hydra's own command line; it runs a single trial and a sweep alike, with `-m` and without.
"""

import gc
import os
import shlex
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from unittest import mock

CONF = Path(__file__).resolve().parents[1] / "conf"
# Hydra's own commands, which it does not take together with --multirun; anything else is a sweep, if only of one trial.
HYDRAS = {"--cfg", "-c", "--info", "-i", "--help", "-h", "--hydra-help", "--version", "--shell-completion", "-sc", "-m"}
VALUED = {"--config-dir", "-cd", "--config-name", "-cn", "--config-path", "-cp", "--package", "-p", "--cfg", "-c"}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run Hydra on these arguments; an error ends it with an explanation and status 1."""
    import hydra

    from experiments import plugins
    from experiments.explain import explained
    from experiments.options import offer
    from experiments.register import register
    from experiments.sweep import job

    given = list(sys.argv[1:] if arguments is None else arguments)
    multirun = [] if (HYDRAS | {"--multirun"}) & {word.partition("=")[0] for word in given} else ["--multirun"]
    sys.argv = ["knockout run", *multirun, *options_first(held(given))]
    wants_trace = "HYDRA_FULL_ERROR" in os.environ
    for number in (signal.SIGTERM, signal.SIGUSR1):  # Slurm sends either before time is up
        signal.signal(number, signal.default_int_handler)
    try:
        # Hydra would print errors in its own words and exit; with this it passes them on.
        with mock.patch.dict(os.environ, HYDRA_FULL_ERROR="1"):
            plugins.load(plugins.on_the_line(given))
            gc.set_threshold(200_000)  # configurations are large trees that stay: looking for waste takes a tenth
            offer()
            register()
            hydra.main(version_base="1.3", config_path=str(CONF), config_name="config")(job)()
    except KeyboardInterrupt:
        sys.exit(f"interrupted; this finishes what is left: {shlex.join(['knockout', 'run', *given])}")
    except Exception as error:
        if wants_trace:
            raise
        sys.exit(explained(error))


def options_first(words: Sequence[str]) -> list[str]:
    """Words with Hydra's options before all settings: it takes them nowhere else.

    >>> options_first(["study=mine", "--config-dir", "conf", "norm=none"])
    ['--config-dir', 'conf', 'study=mine', 'norm=none']
    """
    left, options, settings = list(words), [], []
    while left:
        word = left.pop(0)
        (options if word.startswith("-") else settings).append(word)
        if word in VALUED and left:
            options.append(left.pop(0))
    return [*options, *settings]


def held(words: Sequence[str]) -> list[str]:
    """Words in which a knob of a part that is an axis (`norm=layernorm,none norm.eps=1`) is an axis of one level, and
    keys of the user's own may be new.

    Hydra composes the baseline with every setting that is no axis, and the baseline's part may not have the knob.

    >>> held(["norm=layernorm,none", "norm.eps=1", "model.depth=3", "study.margin={val/loss: 0.1}"])
    ['norm=layernorm,none', 'norm.eps=choice(1)', 'model.depth=3', '++study.margin={val/loss: 0.1}']
    """
    from experiments.axes import FREE

    pairs = [(word, *word.partition("=")[::2]) for word in words]
    axes = {key for _, key, value in pairs if "," in value and not value.startswith(("[", "{", "'", '"'))}
    kept = {
        word: f"{key}=choice({value})"
        for word, key, value in pairs
        if key.rpartition(".")[0] in axes and key not in axes
    }
    kept |= {word: f"++{word}" for word, key, _ in pairs if key in FREE}
    return [kept.get(word, word) for word in words]


if __name__ == "__main__":
    main()
