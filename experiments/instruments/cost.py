"""What a model costs: weights, training FLOPs, memory."""

import resource
import sys

import torch
from torch.utils.flop_counter import FlopCounterMode

from components.model import Decoder


def count_parameters(model: Decoder) -> float:
    """Weights, tied ones once."""
    return float(sum(p.numel() for p in model.parameters()))


def training_flops(model: Decoder) -> float:
    """Floating point operations for each token of training, forward and backward, attention over all of T².

    Counted by torch on the meta device; for a dense decoder 6N + 12 L D T with N the weights in matrix products.
    """
    tokens = torch.zeros(1, model.sizes.context, dtype=torch.long, device="meta")
    with FlopCounterMode(display=False) as counter:
        model(tokens).sum().backward()
    return counter.get_total_flops() / model.sizes.context


GB = 1e9


RSS_UNIT = 1 if sys.platform == "darwin" else 1024  # of what the operating system reports


def peak_memory(device: torch.device) -> float:
    """The most bytes that this process has held: on a GPU those of torch there, elsewhere all that were resident."""
    if device.type == "cuda":
        return float(torch.cuda.max_memory_allocated(device))
    return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * RSS_UNIT)
