"""All that a trial needs, loaded once for all trials of a sweep, so that starting one costs little.

Parts and diagnostics too, with the digests of their code: a file that is edited while a sweep runs changes none of its
trials, and none of them says that it did.
"""

import signal

from experiments.diagnostic import diagnostics
from experiments.settings.schema import KINDS
from experiments.trial.measures import diagnostic_code, task_code

for registry in KINDS.values():
    registry.names()


task_code()
for name in diagnostics.names():
    diagnostic_code(diagnostics[name])


for number in (signal.SIGTERM, signal.SIGUSR1):  # Slurm sends them to all; each trial minds them itself
    signal.signal(number, signal.SIG_IGN)
