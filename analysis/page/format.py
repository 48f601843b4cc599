"""Numbers and names as a page or a terminal shows them."""

from collections.abc import Mapping
from math import isinf
from typing import Any

import pandas as pd

from analysis.findings.verdict import Verdict


def verdict_lines(judged: list[Verdict]) -> str:
    """The verdicts as lines for a terminal, and why some numbers are not compared."""
    table = pd.DataFrame([_verdict_line(verdict) for verdict in judged]).to_string(index=False)
    return "\n".join([table, *(verdict.sentence for verdict in judged if verdict.effect["incomparable"])])


def value_lines(measured: list[dict[str, Any]]) -> str:
    """What one arm alone came to, as lines for a terminal."""
    lines = [
        {"endpoint": row["endpoint"], "mean": f"{row['mean']:.4g}", "s": plain_number(row["deviation"]), "n": row["n"]}
        for row in measured
    ]
    return f"one arm, nothing to compare:\n{pd.DataFrame(lines).to_string(index=False)}"


def _verdict_line(verdict: Verdict) -> dict[str, Any]:
    effect = verdict.effect
    numbers = {"effect": signed_number(effect["effect"]), "95 % interval": interval_text(effect), "n": effect["pairs"]}
    judged = {
        "p (Holm)": plain_number(effect["p_holm"]),
        "expected": verdict.expected or "-",
        "verdict": str(verdict.judgement),
    }
    return {"arm": effect["arm"], "endpoint": effect["endpoint"], **numbers, **judged}


def interval_text(effect: Mapping[str, Any]) -> str:
    """Both ends, or a word where there is none."""
    if pd.isna(effect["low"]):
        return "none (one seed)" if effect["pairs"] == 1 else "none"
    return f"{signed_number(effect['low'])} to {signed_number(effect['high'])}"


def signed_number(value: float) -> str:
    """Three digits and a sign.

    >>> signed_number(-0.04812), signed_number(0.0), signed_number(float("nan"))
    ('−0.0481', '0', '–')
    """
    return "–" if pd.isna(value) else "0" if value == 0 else f"{value:+.3g}".replace("-", "−")


def plain_number(value: float, beyond: str = "∞") -> str:
    """Three digits; a word for what is beyond all numbers.

    >>> plain_number(0.012345), plain_number(float("nan")), plain_number(float("inf"), "never")
    ('0.0123', '–', 'never')
    """
    return "–" if pd.isna(value) else beyond if isinf(value) else f"{value:.3g}"


def markdown_cell(value: Any) -> str:
    r"""Text that no Markdown takes for markup.

    >>> markdown_cell("a_$b$|<b>")
    'a\\_\\$b\\$\\|\\<b\\>'
    """
    return "".join(f"\\{c}" if c in "|\\`*_<>[]$" else c for c in str(value).replace("\n", " "))
