"""All that a trial needs, loaded once for all trials of a sweep, so that starting one costs little.

Parts too: a file that is edited while a sweep runs changes none of its trials.
"""

import signal

import torch._dynamo  # noqa: F401 - what the first optimizer of every trial would load, for a second

import experiments.trial  # noqa: F401
from experiments.options import KINDS

for registry in KINDS.values():
    registry.names()

for number in (signal.SIGTERM, signal.SIGUSR1):  # Slurm sends them to all; each trial minds them itself
    signal.signal(number, signal.SIG_IGN)
