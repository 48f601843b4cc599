"""Attention and a pre-LN block in NumPy float64, written from the formulas and nothing else."""

import math
from collections.abc import Mapping

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


def gelu(x: Array) -> Array:
    """x Φ(x)"""
    return x * (1 + np.vectorize(math.erf)(x / math.sqrt(2))) / 2


def block(x: Array, weights: Mapping[str, Array], heads: int, eps: float) -> Array:
    """x + attention(layernorm(x)), then the same with a GELU network; norms at gain 1 and bias 0."""
    maps = (weights[f"mixer.branch.{name}.weight"] for name in MAPS)
    x = x + attention(layernorm(x, eps), *maps, heads=heads)
    up, down = (weights[f"ffn.branch.{name}.weight"] for name in ("up", "down"))
    return x + gelu(layernorm(x, eps) @ up.T) @ down.T


MAPS = ("projection.query", "projection.key", "projection.value", "output")
