"""How a report scales: python benchmarks/report.py [500 1000 2000]   trials of 500 rows × 40 measures

Prints CPU seconds and the most memory of `write_report` for each number of trials, in processes of their own.
"""

import json
import multiprocessing
import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import yaml

ROWS, MEASURES, ARMS = 500, 40, 10


def write(root: Path, trials: int) -> Path:
    """A results folder with this many finished trials; the study's folder."""
    random = np.random.default_rng(0)
    names = ["train/loss", "val/loss", *(f"stream/rms/layers.{number}" for number in range(MEASURES - 2))]
    metadata = {"unit": "nats/token", "better": "lower", "reduction": "final"}
    fields = [pa.field("step", pa.int64()), pa.field("tokens", pa.int64())]
    schema = pa.schema([*fields, *(pa.field(name, pa.float64(), metadata=metadata) for name in names)])
    rows = []
    for number in range(trials):
        arm, seed, id = number % ARMS, number // ARMS, f"{number:012x}"
        folder = root / "trials" / id
        folder.mkdir(parents=True)
        values = random.normal(2 + 0.01 * arm, 0.1, (MEASURES, ROWS))
        pq.write_table(
            pa.table([np.arange(ROWS), 64 * np.arange(ROWS), *values], schema=schema), folder / "history.parquet"
        )
        summary = {
            "status": "finished", "diverged_step": None, "parameters": 100, "tokens": 64 * ROWS, "cpu_seconds": 1.0,
            "peak_memory_mb": 10.0, "versions": {"torch": "2"}, "data": {"content": "c"}, "code": "x", "git": "",
        }  # fmt: skip
        (folder / "summary.json").write_text(json.dumps(summary))
        rows.append({"id": id, "arm": f"norm={arm}", "seed": seed})
    arms = {
        f"norm={arm}": {
            "levels": {"norm": str(arm)}, "parameters": 100, "flops": 600.0, "code": "x",
            "settings": {"norm": {"name": str(arm)}},
        }
        for arm in range(ARMS)
    }  # fmt: skip
    study = {
        "name": "large", "question": "Is it quick?", "source": "", "expect": {}, "margin": {}, "budget": "none",
        "endpoints": {"val/loss": "final", "stream/rms/layers.0": "median"}, "seeds": list(range(trials // ARMS)),
        "factors": ["norm"], "command": "knockout run", "report": "knockout report large", "arms": arms, "trials": rows,
    }  # fmt: skip
    home = root / "studies" / "large"
    home.mkdir(parents=True)
    (home / "study.yaml").write_text(yaml.safe_dump(study))
    return home


def measured(home: Path, said: "multiprocessing.Queue[tuple[float, float]]") -> None:
    """CPU seconds, imports too, and GiB."""
    from analysis.report import write_report

    write_report(home)
    said.put((time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20))


def main(numbers: list[int]) -> None:
    """A line a size."""
    context = multiprocessing.get_context("spawn")
    for trials in numbers or [500, 1000, 2000]:
        with tempfile.TemporaryDirectory() as root:
            home, said = write(Path(root), trials), context.Queue()
            process = context.Process(target=measured, args=(home, said))
            process.start()
            seconds, memory = said.get()
            process.join()
            print(f"{trials} trials: {seconds:.1f} s of CPU, {memory:.2f} GiB", flush=True)


if __name__ == "__main__":
    main([int(word) for word in sys.argv[1:]])
