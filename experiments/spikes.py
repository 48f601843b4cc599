"""Leaps of a curve above what came before."""

import numpy as np
import torch
from torch import Tensor

ROBUST = 1.4826  # times the median absolute deviation of normal numbers is their standard deviation
LEAP = 7.0
BLOCK = 1000  # windows at a time, so that long curves take little memory


def spikes(values: Tensor) -> Tensor:
    """The share of values more than 7 robust standard deviations above the median of the window before them

    The window is the 1,000 values before, in short curves a fifth of them; values before the first whole window are
    not judged, and with fewer than 5 values in a window none is. Source: OLMo 2, arXiv:2501.00656, section 3 (7
    standard deviations above the last 1,000; here median and 1.4826 · median absolute deviation).

    >>> flat = torch.arange(100.0) % 2
    >>> flat[[50, 90]] = 100.0
    >>> round(spikes(flat).item(), 4)  # 2 of the 80 after the first window of 20
    0.025
    """
    width = min(1000, len(values) // 5)
    if width < 5:
        return torch.tensor(0.0)
    curve = values.double().numpy()
    windows = np.lib.stride_tricks.sliding_window_view(curve, width)[: len(curve) - width]
    leaps = sum(
        int(_leaps(windows[start : start + BLOCK], curve[width + start : width + start + BLOCK]).sum())
        for start in range(0, len(windows), BLOCK)
    )
    return torch.tensor(leaps / len(windows))


def _leaps(windows: np.ndarray, after: np.ndarray) -> np.ndarray:
    middle = np.median(windows, axis=1)
    spread = ROBUST * np.median(np.abs(windows - middle[:, None]), axis=1)
    return after > middle + LEAP * spread
