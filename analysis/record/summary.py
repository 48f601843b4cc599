"""What a complete trial recorded about itself: `summary.json`, which is written last."""

import json
from pathlib import Path
from typing import Any

from analysis.record.layout import SUMMARY

COMPLETE = ("finished", "diverged")


def read_summary(folder: Path) -> dict[str, Any] | None:
    """The summary of a complete trial; None while the trial is not complete."""
    path = folder / SUMMARY
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None
