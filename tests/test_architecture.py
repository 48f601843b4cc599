"""The shape that the design promises: which package may import which, and that one new file is enough."""

import ast
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.conftest import QUICK, ROOT, typed

FILES = {"pyarrow", "yaml"}
MAY_IMPORT = {
    "components": {"components", "torch"},
    "experiments": FILES
    | {
        "analysis",
        "components",
        "experiments",
        "hydra",
        "lightning",
        "mlflow",
        "numpy",
        "omegaconf",
        "psutil",
        "pyDOE3",
        "rich",
        "torch",
    },
    "analysis": FILES
    | {"analysis", "jinja2", "markupsafe", "matplotlib", "numpy", "pandas", "scipy", "seaborn", "statsmodels"},
}
TRIALS_NEVER_IMPORT = {"mlflow", "pandas", "analysis"}
TOY = '''
"""A norm of one's own."""

from torch import nn

from components.norm import norms
from components.shapes import Vector


@norms.register("toy")
class Toy(nn.Module):
    """y = strength · x

    Source: this test.
    """

    def __init__(self, width: int, *, strength: float = 2.0) -> None:
        super().__init__()
        self.strength = strength

    def forward(self, x: Vector) -> Vector:
        return self.strength * x
'''


@pytest.mark.parametrize("package", MAY_IMPORT)
def test_imports_point_one_way(package: str) -> None:
    for file in (ROOT / package).rglob("*.py"):
        assert imports(file) <= MAY_IMPORT[package], file


def imports(file: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.partition(".")[0])
    return found - sys.stdlib_module_names - {"pydoc_data"}


def test_a_trial_imports_no_tracker_and_a_plan_no_lightning() -> None:
    loaded = "import sys, {}; print(' '.join(sorted({{name.partition('.')[0] for name in sys.modules}})))"

    def modules(module: str) -> set[str]:
        line = [sys.executable, "-c", loaded.format(module)]
        return set(subprocess.run(line, capture_output=True, text=True, check=True, cwd=ROOT).stdout.split())

    assert not TRIALS_NEVER_IMPORT & modules("experiments.trial")
    assert not {"lightning", "mlflow"} & modules("experiments.sweep")
    assert not {"torch", "hydra"} & modules("experiments.cli")


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """The packages and their configuration, to be changed."""
    for package in ("components", "experiments", "analysis", "conf"):
        shutil.copytree(ROOT / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def test_one_new_file_is_an_option_a_part_under_contract_and_a_column(copy: Path) -> None:
    (copy / "components" / "norm" / "toy.py").write_text(TOY, encoding="utf-8")
    listed = typed(copy, "parts", "norm")
    assert "norm=toy\n    y = strength · x\n    knobs: strength: float = 2.0\n    source: this test." in listed.stdout
    check = "from components.contract import *; from components.norm import norms as n; [c(n, 'toy') for c in CHECKS]"
    assert typed(copy, program=("-c", check)).returncode == 0
    wrong = typed(copy, "run", "norm=toy", "norm.strength=strong")
    assert "norm.strength: Value 'strong'" in wrong.stderr
    ran = typed(copy, "run", "norm=layernorm,toy", "norm.strength=1,3", *QUICK, "runtime.tracking_uri=none")
    assert ran.returncode == 0, ran.stderr
    assert "3 arms × 1 seed = 3 trials" in ran.stdout
    (study,) = (copy / "results" / "studies").iterdir()
    columns = f"from analysis.results import load; print(sorted(load('results', {study.name!r}).trials['norm']))"
    assert "['layernorm', 'toy', 'toy']" in typed(copy, program=("-c", columns)).stdout
    (page,) = copy.glob("results/studies/*/report.html")
    assert "norm.strength" in page.read_text(encoding="utf-8")


def test_a30_the_wheel_works_from_anywhere(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(tmp_path), str(ROOT)]
    built = subprocess.run(build, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    (wheel,) = tmp_path.glob("knockout-*.whl")
    installed = tmp_path / "installed"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(installed)
    assert {path.name for path in installed.iterdir() if not path.name.endswith(".dist-info")} == {
        "analysis", "components", "conf", "experiments",
    }  # fmt: skip
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    where = typed(Path("/"), program=("-c", "import experiments; print(experiments.__file__)"), env=environment)
    assert where.stdout.startswith(str(installed))
    results = f"runtime.results={tmp_path / 'results'}"
    ran = typed(Path("/"), "demo", "study.seeds=1", results, *QUICK, env=environment)
    assert ran.returncode == 0, ran.stderr
    assert (tmp_path / "results" / "studies" / "norm" / "report.html").exists()


def test_e16_trials_of_other_code_are_refused_unless_accepted(copy: Path) -> None:
    part = copy / "components" / "norm" / "rmsnorm.py"
    run = ("run", "norm=layernorm,rmsnorm", *QUICK, "runtime.tracking_uri=none")
    assert typed(copy, "run", "norm=rmsnorm", *QUICK, "runtime.tracking_uri=none").returncode == 0
    code = part.read_text(encoding="utf-8").replace("keep a vector's direction", "another docstring")
    part.write_text(code, encoding="utf-8")
    assert "1 finished, 0 to train" in typed(copy, "run", "norm=rmsnorm", *QUICK, "runtime.tracking_uri=none").stdout
    part.write_text(code.replace("(x * scale)", "(3 * x * scale)"), encoding="utf-8")
    refused = typed(copy, *run)
    assert refused.returncode == 1
    assert "1 finished trials were made by code that has changed since" in refused.stderr
    accepted = typed(copy, *run, "runtime.code=any")
    assert accepted.returncode == 0, accepted.stderr
    (page,) = copy.glob("results/studies/norm-*/report.md")
    assert "made by other code than this study was planned with" in page.read_text(encoding="utf-8")


def test_code_is_that_of_a_part_and_of_all_it_imports() -> None:
    from experiments import provenance

    rope = ROOT / "components" / "position" / "rope.py"
    assert rope.with_name("sinusoidal.py") in provenance._imported({rope})
    assert rope.with_name("learned.py") not in provenance._imported({rope})
