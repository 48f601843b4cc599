"""A results folder with planted truths, written as trials write it."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml


@pytest.fixture
def write_study(tmp_path: Path) -> Callable[..., Path]:
    """Writes a study of two arms whose loss differs by `change`, with `noise` on top; returns the study's folder."""

    def write(
        *,
        change: float = 0.1,
        noise: float = 0.01,
        seeds: int = 8,
        arms: Sequence[str] = ("norm=layernorm", "norm=rmsnorm"),
        diverged: Sequence[int] = (),
        missing: Sequence[int] = (),
        **study: Any,
    ) -> Path:
        random = np.random.default_rng(0)
        trials = []
        for seed in range(seeds):
            luck = random.normal(2.0, 0.5)
            for place, arm in enumerate(arms):
                id = f"{place}{seed:011x}"
                folder = tmp_path / "trials" / id
                folder.mkdir(parents=True)
                loss = luck + place * (change + random.normal(0, noise))
                state = "diverged" if place and seed in diverged else "finished"
                _trial(folder, loss, state, complete=not (place and seed in missing))
                trials.append({"id": id, "arm": arm, "seed": seed})
        home = tmp_path / "studies" / "planted"
        home.mkdir(parents=True)
        asked = {
            "name": "planted", "question": "Is it seen?", "source": "", "expect": {},
            "endpoints": {"val/loss": "final"},
            "margin": {"val/loss": 0.02}, "seeds": list(range(seeds)), "factors": ["norm"], "command": "knockout run",
            "arms": {arm: _arm(arm) for arm in arms}, "report": "knockout report planted",
            "budget": "none", "trials": trials,
        }  # fmt: skip
        (home / "study.yaml").write_text(
            yaml.safe_dump(asked | study, allow_unicode=True, sort_keys=False), encoding="utf-8"
        )
        return home

    return write


def _arm(arm: str) -> dict[str, Any]:
    settings = {"norm": {"name": arm.partition("=")[2] or arm}, "model": {"width": 64}, "seed": 0}
    return {"levels": {}, "parameters": 100, "flops": 600.0, "code": "x", "settings": settings}


def _trial(folder: Path, loss: float, status: str, complete: bool) -> None:
    if not complete:
        return
    metadata = {"unit": "nats/token", "better": "lower", "reduction": "final"}
    fields = [pa.field("step", pa.int64()), pa.field("tokens", pa.int64())]
    fields += [pa.field(name, pa.float64(), metadata=metadata) for name in ("train/loss", "val/loss")]
    end = float("nan") if status == "diverged" else loss
    columns = [[0, 1, 2], [0, 64, 128], [None, loss + 1, end], [loss + 2, None, end]]
    pq.write_table(pa.table(columns, schema=pa.schema(fields)), folder / "history.parquet")
    summary = {
        "status": status, "diverged_step": 2 if status == "diverged" else None, "parameters": 100, "tokens": 128,
        "cpu_seconds": 1.0, "peak_memory_mb": 10.0, "versions": {"torch": "2"}, "data": {"content": "c"},
        "code": "x", "git": "",
    }  # fmt: skip
    (folder / "summary.json").write_text(json.dumps(summary))


def measured(home: Path, name: str, value: Callable[[int, int], float | None], **declared: str) -> None:
    """Give every trial of a study one more measure: its last value, by the place of its arm and its seed."""
    given = {"unit": "share of trials", "better": "higher", "reduction": "final", "repeats": "exactly"} | declared
    for folder in home.parents[1].glob("trials/*"):
        if (folder / "history.parquet").exists():
            table = pq.read_table(folder / "history.parquet")
            last = value(int(folder.name[0]), int(folder.name[1:], 16))
            column = pa.array([*[None] * (len(table) - 1), last], pa.float64())
            field = pa.field(name, pa.float64(), metadata=given)
            pq.write_table(table.append_column(field, column), folder / "history.parquet")
