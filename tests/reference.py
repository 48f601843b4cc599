"""Attention in NumPy float64, written from the formula and nothing else."""

import numpy as np

Array = np.ndarray


def softmax(scores: Array) -> Array:
    """Over the last axis."""
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def attention(x: Array, query: Array, key: Array, value: Array, output: Array, heads: int) -> Array:
    """Causal multi-head attention of one sequence x (T by D), weights as (out, in)."""
    tokens, width = x.shape
    size = width // heads
    result = np.zeros_like(x)
    for head in range(heads):
        rows = slice(head * size, (head + 1) * size)
        q, k, v = x @ query[rows].T, x @ key[rows].T, x @ value[rows].T
        for t in range(tokens):
            scores = np.array([q[t] @ k[s] / np.sqrt(size) for s in range(t + 1)])
            result[t, rows] = softmax(scores) @ v[: t + 1]
    return result @ output.T


def layernorm(x: Array, eps: float) -> Array:
    """Over the last axis, without gain and bias."""
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + eps)
