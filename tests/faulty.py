"""Parts that fail on purpose, as a plugin: each a norm that does nothing else."""

import errno
import os
import signal
import time
from pathlib import Path

import torch
from torch import Tensor, nn

from components.norm import norms


class Plain(nn.Module):
    """y = x; `happen` is called at each training step from the `at`-th on, whatever interrupted the trial."""

    calls: Tensor

    def __init__(self, width: int, *, at: int = 5) -> None:
        super().__init__()
        self.at, self.width = at, width
        self.register_buffer("calls", torch.zeros((), dtype=torch.long))

    def forward(self, x: Tensor) -> Tensor:
        if not self.training or x.device.type == "meta":
            return x
        self.calls += 1
        return self.happen(x) if self.calls > self.at else x

    def happen(self, x: Tensor) -> Tensor:
        """x"""
        return x


@norms.register("raises")
class Raises(Plain):
    """y = x, then an error

    Source: a test.
    """

    def happen(self, x: Tensor) -> Tensor:
        raise RuntimeError("bad luck in a part")


@norms.register("exits")
class Exits(Plain):
    """y = x, then sys.exit

    Source: a test.
    """

    def happen(self, x: Tensor) -> Tensor:
        raise SystemExit(3)


@norms.register("dies")
class Dies(Plain):
    """y = x, then SIGKILL

    Source: a test.
    """

    def happen(self, x: Tensor) -> Tensor:
        os.kill(os.getpid(), signal.SIGKILL)
        return x


@norms.register("blows_up")
class BlowsUp(Plain):
    """y = x, then NaN

    Source: a test.
    """

    def happen(self, x: Tensor) -> Tensor:
        return x * torch.nan


@norms.register("sleeps")
class Sleeps(Plain):
    """y = x, then nothing for an hour

    Source: a test.
    """

    def happen(self, x: Tensor) -> Tensor:
        time.sleep(3600)
        return x


@norms.register("rank")
class Rank(Plain):
    """y = x, then an error in the second process of a trial

    Source: a test.
    """

    def happen(self, x: Tensor) -> Tensor:
        if os.environ.get("LOCAL_RANK") == "1":
            raise RuntimeError("bad luck in a rank")
        return x


@norms.register("hungry")
class Hungry(Plain):
    """y = x, and no memory while another trial runs

    Source: a test.
    """

    def happen(self, x: Tensor) -> Tensor:
        if len(list(Path("results", "trials").glob("*/lease.*"))) > 1:
            raise MemoryError("there is not enough for two")
        return x


@norms.register("full")
class Full(Plain):
    """y = x, then no space on the disk

    Source: a test.
    """

    def happen(self, x: Tensor) -> Tensor:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@norms.register("slow")
class Slow(Plain):
    """y = x, a little later

    Source: a test.
    """

    def happen(self, x: Tensor) -> Tensor:
        time.sleep(0.01)
        return x
