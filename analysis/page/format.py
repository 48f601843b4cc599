"""Numbers and names as a page or a terminal shows them."""

from math import isinf
from typing import Protocol

import pandas as pd

from analysis.findings.verdict import Verdict
from analysis.statistics.summary import ArmValue


class HasInterval(Protocol):
    """An effect with the ends of its interval and its number of pairs."""

    @property
    def low(self) -> float: ...

    @property
    def high(self) -> float: ...

    @property
    def pairs(self) -> int: ...


def verdict_lines(judged: list[Verdict]) -> str:
    """The verdicts as lines for a terminal, and the reasons why some values are not compared."""
    table = pd.DataFrame([_verdict_cells(verdict) for verdict in judged]).to_string(index=False)
    return "\n".join([table, *(verdict.sentence for verdict in judged if verdict.effect.incomparable)])


def value_lines(values: list[ArmValue]) -> str:
    """The endpoints of a study of one arm, as lines for a terminal."""
    rows = [
        {"endpoint": value.endpoint, "mean": f"{value.mean:.4g}", "SD": plain_number(value.sd), "n": value.n}
        for value in values
    ]
    return f"one arm, nothing to compare:\n{pd.DataFrame(rows).to_string(index=False)}"


def _verdict_cells(verdict: Verdict) -> dict[str, str | int]:
    effect = verdict.effect
    return {
        "arm": effect.arm,
        "endpoint": effect.endpoint,
        "effect": signed_number(effect.effect),
        "95 % interval": interval_text(effect),
        "n": effect.pairs,
        "p (Holm)": plain_number(effect.p_holm),
        "expected": verdict.expected or "-",
        "verdict": str(verdict.judgement),
    }


def interval_text(effect: HasInterval) -> str:
    """Both ends of the interval, or "none"."""
    if pd.isna(effect.low):
        return "none (one seed)" if effect.pairs == 1 else "none"
    return f"{signed_number(effect.low)} to {signed_number(effect.high)}"


def signed_number(value: float) -> str:
    """Three digits and a sign.

    >>> signed_number(-0.04812), signed_number(0.0), signed_number(float("nan"))
    ('−0.0481', '0', '–')
    """
    if pd.isna(value):
        return "–"
    return "0" if value == 0 else f"{value:+.3g}".replace("-", "−")


def plain_number(value: float, infinite: str = "∞") -> str:
    """Three digits, or a word for an infinite value.

    >>> plain_number(0.012345), plain_number(float("nan")), plain_number(float("inf"), "never")
    ('0.0123', '–', 'never')
    """
    if pd.isna(value):
        return "–"
    return infinite if isinf(value) else f"{value:.3g}"


def markdown_cell(value: object) -> str:
    r"""Text that no Markdown takes for markup.

    >>> markdown_cell("a_$b$|<b>")
    'a\\_\\$b\\$\\|\\<b\\>'
    """
    return "".join(f"\\{c}" if c in "|\\`*_<>[]$" else c for c in str(value).replace("\n", " "))
