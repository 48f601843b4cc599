"""A folder to which everything has happened, and its page, number by number; a paper's files."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import yaml

from analysis.paper import write_paper
from analysis.report import write_report
from analysis.results import opened

SEEDS = 200
ARMS = ["norm=layernorm", "norm=none", "norm=late", "norm=nan", "norm=gone", "norm=single"]
Write = Callable[..., Path]


def history(folder: Path, steps: list[int], losses: list[float | None]) -> None:
    """Write one."""
    folder.mkdir(parents=True)
    declared = {"unit": "nats/token", "better": "lower", "reduction": "final"}
    fields = [pa.field("step", pa.int64()), pa.field("tokens", pa.int64())]
    schema = pa.schema(
        [*fields, *(pa.field(name, pa.float64(), metadata=declared) for name in ("train/loss", "val/loss"))]
    )
    pq.write_table(
        pa.table([steps, [64 * step for step in steps], losses, losses], schema=schema), folder / "history.parquet"
    )


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """1,200 trials: six arms × 200 seeds.

    `none` is 0.5 worse in every seed but diverges in the last 20; `late` is logged at other steps; `nan` has a NaN in
    its history; of `gone` every tenth trial was killed and one seed never began; of `single` one trial finished.
    """
    root, random, rows = tmp_path_factory.mktemp("whole"), np.random.default_rng(0), []
    for seed in range(SEEDS):
        luck = random.normal(2.0, 0.3)
        for place, arm in enumerate(ARMS):
            id, status = f"{place}{seed:011x}", "finished"
            folder, end = root / "trials" / id, luck + {1: 0.5}.get(place, random.normal(0, 0.01) if place else 0.0)
            rows.append({"id": id, "arm": arm, "seed": seed})
            if (place == 4 and seed == 7) or (place == 5 and seed):
                continue
            steps = [0, 15, 30] if place == 2 else [0, 10, 20, 30]
            losses: list[float | None] = [luck + 2, *([luck + 1] * (len(steps) - 2)), end]
            if place == 1 and seed >= 180:
                losses, status = [luck + 2, luck + 9, float("nan"), None], "diverged"
            if place == 3:
                losses[1] = float("nan")
            history(folder, steps, losses)
            if place == 4 and seed % 10 == 0:
                continue
            said = {
                "status": status, "diverged_step": 20 if status == "diverged" else None, "parameters": 100,
                "tokens": 64 * 30, "cpu_seconds": 1.0, "peak_memory_mb": 10.0, "versions": {"torch": "2"},
                "data": {"content": "c"}, "code": "x", "git": "",
            }  # fmt: skip
            (folder / "summary.json").write_text(json.dumps(said))
    arms: dict[str, Any] = {
        arm: {
            "levels": {"norm": arm[5:]},
            "parameters": 100,
            "flops": 600.0,
            "code": "x",
            "settings": {"norm": {"name": arm[5:]}},
        }
        for arm in ARMS
    }
    study = {
        "name": "whole", "question": "What became of it?", "source": "", "expect": {}, "margin": {"val/loss": 0.02},
        "endpoints": {"val/loss": "final", "diverged": "any"}, "seeds": list(range(SEEDS)), "factors": ["norm"],
        "command": "knockout run", "report": "knockout report whole", "budget": "none", "arms": arms, "trials": rows,
        "sources": {"norm=layernorm": "Ba et al. 2016, arXiv:1607.06450, eq. 4."},
    }  # fmt: skip
    folder = root / "studies" / "whole"
    folder.mkdir(parents=True)
    (folder / "study.yaml").write_text(yaml.safe_dump(study, sort_keys=False))
    return folder


class Cells(HTMLParser):
    """The rows of all tables of a page, as text."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th") and self.rows:
            self.rows[-1].append("")

    def handle_data(self, data: str) -> None:
        if self.rows and self.rows[-1]:
            self.rows[-1][-1] += f" {data.strip()}" if data.strip() else ""


def test_a_folder_to_which_everything_happened_gives_a_right_page_number_by_number(home: Path) -> None:
    page, _ = write_report(home)
    text = page.read_text()
    cells = Cells()
    cells.feed(text)
    rows = [[cell.strip() for cell in row] for row in cells.rows]
    effects = {row[0]: row for row in rows if len(row) == 7 and row[1].startswith("val/loss")}
    assert effects["norm=none"][2:5] == ["+0.5", "none", "180"]  # the same in each of the pairs that are there
    assert effects["norm=late"][4] == effects["norm=nan"][4] == "200"
    assert effects["norm=gone"][4] == str(SEEDS - 20 - 1)
    assert effects["norm=single"][4] == "1"
    assert effects["norm=late"][6] == effects["norm=nan"][6] == effects["norm=gone"][6] == "equivalent"
    shares = {row[0]: row for row in rows if len(row) == 5 and row[1] == "diverged"}
    assert shares["norm=none"][2:] == ["20 of 200", "0.1", "0.0622 to 0.15"]
    assert shares["norm=layernorm"][2:] == ["0 of 200", "0", "0 to 0.0183"]
    assert text.count("diverged at step 20; it counts as diverged and in no mean") == 20
    assert text.count("not finished, so it counts in no number here") == 20 + 1 + SEEDS - 1
    exact = {row[0]: row for row in rows if len(row) == 7 and row[1].startswith("diverged")}
    assert exact["norm=none"][2] == "+0.1"
    assert "inf" not in re.sub(r"[a-z]*inf[a-z]+", "", text.partition("<svg")[0])


def test_numbers_on_the_page_are_those_of_the_tables(home: Path) -> None:
    results = opened(home)
    table = results.endpoints["val/loss"]
    changes = (table["norm=gone"] - table["norm=layernorm"]).dropna()
    effects = results.effects()
    found = effects[(effects.arm == "norm=gone") & (effects.endpoint == "val/loss")]
    assert found.effect.to_list() == [pytest.approx(changes.mean())]
    assert found.deviation.to_list() == [pytest.approx(changes.std())]
    assert results.trials.status.value_counts().to_dict() == {"finished": 960, "missing": 220, "diverged": 20}


def test_another_time_zone_and_another_locale_give_the_same_bytes(write_study: Write) -> None:
    home = write_study(diverged=[2], missing=[3])
    write_report(home)
    names = ("report.html", "report.md", "effects.csv", "verdicts.txt")
    before = {name: (home / name).read_bytes() for name in names}
    given = {**os.environ, "TZ": "Pacific/Kiritimati", "LC_ALL": "C", "LANG": "C"}
    line = [sys.executable, "-m", "experiments.cli", "report", "planted", "--results", str(home.parents[1])]
    subprocess.run(line, env=given, check=True, capture_output=True, cwd=Path(__file__).parents[2])
    assert {name: (home / name).read_bytes() for name in names} == before


def test_a_paper_has_its_tables_figures_and_sources_and_the_same_bytes_twice(write_study: Write) -> None:
    home = write_study(change=0.1, sources={"norm=rmsnorm": "Zhang & Sennrich 2019, arXiv:1910.07467, eq. 4."})
    first = {path.name: path.read_bytes() for path in write_paper(home).iterdir()}
    assert {path.name: path.read_bytes() for path in write_paper(home).iterdir()} == first
    assert set(first) == {
        "values.tex", "effects.tex", "appendix.tex", "sources.bib",
        "curve-val-loss.pdf", "curve-train-loss.pdf", "effects-val-loss.pdf",
    }  # fmt: skip
    values, effects = first["values.tex"].decode(), first["effects.tex"].decode()
    assert r"\toprule" in values and r"$\pm$" in values and "(n = 8)" in values
    assert re.search(r"norm=rmsnorm & val/loss & \+0\.0988 & ", effects)
    assert "eprint = {1910.07467}" in first["sources.bib"].decode()
    assert all(first[name].startswith(b"%PDF") for name in first if name.endswith(".pdf"))
