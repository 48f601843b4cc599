"""How much memory and disk trials take, so that too many at a time are named before they fail."""

import resource
import shutil
import sys
from pathlib import Path

import psutil
import torch

GB = 1e9
COPIES = 3  # of every weight in a checkpoint: itself and AdamW's two moments
UNIT = 1 if sys.platform == "darwin" else 1024  # of what the operating system reports


def peak(device: torch.device) -> float:
    """The most bytes that this process has held: on a GPU those of torch there, elsewhere all that were resident."""
    if device.type == "cuda":
        return float(torch.cuda.max_memory_allocated(device))
    return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * UNIT)


def free(accelerator: str) -> float:
    """Bytes that new trials could hold: of the GPU with the least, or of this machine."""
    if accelerator in ("gpu", "cuda") and torch.cuda.is_available():
        return float(min(torch.cuda.mem_get_info(number)[0] for number in range(torch.cuda.device_count())))
    return float(psutil.virtual_memory().available)


def refuse_full_disk(results: Path, parameters: list[int], at_a_time: int, keep_gb: float) -> None:
    """Raises ValueError if the weights and checkpoints of trials of these sizes have no room beside what is there."""
    kept = min(4.0 * sum(parameters), keep_gb * GB)
    checkpoints = 4.0 * COPIES * sum(sorted(parameters)[-at_a_time:])
    if (left := shutil.disk_usage(results).free) < kept + checkpoints:
        raise ValueError(
            f"the disk of {results} has {left / GB:.3g} GB left; the trials would keep {kept / GB:.3g} GB of weights "
            f"and {checkpoints / GB:.3g} GB of checkpoints while they run: free some of it, or lower runtime.keep_gb, "
            "runtime.slots, or name another with runtime.results=FOLDER"
        )
