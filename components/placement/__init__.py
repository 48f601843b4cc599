"""Placements say where a sublayer norms: before its branch, on the branch, or after the sum.

x ──┬── before ── branch ── inside ──┐
    └─────────────────────────── residual ── after ── y

The stack as a whole may begin and end in a norm too.
"""

from dataclasses import dataclass

from components.registry import Registry


@dataclass(frozen=True, kw_only=True)
class Placement:
    """Which of a sublayer's three slots hold a norm, and whether one stands `first` or `final` in the stack."""

    before: bool = False
    inside: bool = False
    after: bool = False
    final: bool = False
    first: bool = False


placements: Registry[Placement] = Registry(Placement)
