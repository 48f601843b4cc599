"""Numbers and names as a page or a terminal shows them."""

from collections.abc import Mapping
from math import isinf
from typing import Any

import pandas as pd

from analysis.verdict import Verdict


def table(judged: list[Verdict]) -> str:
    """The verdicts as lines for a terminal."""
    return pd.DataFrame([_line(verdict) for verdict in judged]).to_string(index=False)


def values(measured: list[dict[str, Any]]) -> str:
    """What one arm alone came to, as lines for a terminal."""
    lines = [
        {"endpoint": row["endpoint"], "mean": f"{row['mean']:.4g}", "s": plain(row["deviation"]), "n": row["n"]}
        for row in measured
    ]
    return f"one arm, nothing to compare:\n{pd.DataFrame(lines).to_string(index=False)}"


def _line(verdict: Verdict) -> dict[str, Any]:
    effect = verdict.effect
    numbers = {"effect": signed(effect["effect"]), "95 % interval": interval(effect), "n": effect["pairs"]}
    judged = {
        "p (Holm)": plain(effect["p_holm"]),
        "expected": verdict.expected or "-",
        "verdict": str(verdict.judgement),
    }
    return {"arm": effect["arm"], "endpoint": effect["endpoint"], **numbers, **judged}


def interval(effect: Mapping[str, Any]) -> str:
    """Both ends, or a word where there is none."""
    if pd.isna(effect["low"]):
        return "none (one seed)" if effect["pairs"] == 1 else "none"
    return f"{signed(effect['low'])} to {signed(effect['high'])}"


def signed(value: float) -> str:
    """Three digits and a sign.

    >>> signed(-0.04812), signed(0.0), signed(float("nan"))
    ('−0.0481', '0', '–')
    """
    return "–" if pd.isna(value) else "0" if value == 0 else f"{value:+.3g}".replace("-", "−")


def plain(value: float, beyond: str = "∞") -> str:
    """Three digits; a word for what is beyond all numbers.

    >>> plain(0.012345), plain(float("nan")), plain(float("inf"), "never")
    ('0.0123', '–', 'never')
    """
    return "–" if pd.isna(value) else beyond if isinf(value) else f"{value:.3g}"


def cell(value: Any) -> str:
    r"""Text that no Markdown takes for markup.

    >>> cell("a_$b$|<b>")
    'a\\_\\$b\\$\\|\\<b\\>'
    """
    return "".join(f"\\{c}" if c in "|\\`*_<>[]$" else c for c in str(value).replace("\n", " "))
