"""Train one model, or a study of many: `python -m experiments.run norm=layernorm,rmsnorm "seed=range(6)"`.

Hydra's own command line; it runs a single trial and a sweep alike, with `-m` and without.
"""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

CONF = Path(__file__).resolve().parents[1] / "conf"
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
    "--multirun",
    "-m",
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run Hydra on these arguments; errors end it with one explanation and status 1 (2 for words it does not know)."""
    import hydra

    from experiments.explain import explained
    from experiments.options import offer
    from experiments.sweep import job, register

    offer()
    register()
    given = list(sys.argv[1:] if arguments is None else arguments)
    multirun = [] if HYDRA_COMMANDS & {word.partition("=")[0] for word in given} else ["--multirun"]
    sys.argv = ["knockout run", *multirun, *given]
    wanted_trace = os.environ.setdefault("HYDRA_FULL_ERROR", "1") if "HYDRA_FULL_ERROR" in os.environ else None
    os.environ["HYDRA_FULL_ERROR"] = "1"  # otherwise Hydra prints errors in its own words and exits
    try:
        hydra.main(version_base="1.3", config_path=str(CONF), config_name="config")(job)()
    except KeyboardInterrupt:
        sys.exit(f"interrupted; this finishes what is left: knockout run {' '.join(given)}")
    except Exception as error:
        if wanted_trace:
            raise
        sys.exit(explained(error))


if __name__ == "__main__":
    main()
