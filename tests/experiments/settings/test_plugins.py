"""Plugins count with all that they import, are compared before they run, and are named when they fail."""

import os
from pathlib import Path

import pytest

from experiments.commands.run import refuse_untrusted_words
from experiments.settings import plugins
from experiments.settings.plugins import PluginError

PLUGIN = "from {module} import squash\n\n\ndef apply(x):\n    return squash(x)\n"
HELPER = "from math import tanh\n\n\ndef squash(x):\n    return tanh(x)\n"


@pytest.fixture(autouse=True)
def nothing_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plugins, "LOADED", {})


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("module", ["helper", "package.deep.helper"])
@pytest.mark.parametrize("place", ["beside", "on the path"])
def test_g8_a_module_that_a_plugin_imports_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str, place: str
) -> None:
    plugin = write(tmp_path / "mine.py", PLUGIN.format(module=module))
    home = tmp_path / ("elsewhere" if place == "on the path" else "")
    helper = write((home / module.replace(".", "/")).with_suffix(".py"), HELPER)
    if place == "on the path":
        monkeypatch.syspath_prepend(str(home))
    before = plugins.plugin_digest(plugin)
    helper.write_text(f"# a comment\n{HELPER}", encoding="utf-8")
    assert plugins.plugin_digest(plugin) == before
    helper.write_text(HELPER.replace("tanh", "erf"), encoding="utf-8")
    assert plugins.plugin_digest(plugin) != before


@pytest.mark.parametrize(
    "statement", ["from helper import *", "import helper", "import_module('helper')", "def f():\n    import helper"]
)
def test_modules_are_found_however_they_are_imported_and_through_others(tmp_path: Path, statement: str) -> None:
    plugin = write(tmp_path / "mine.py", f"from importlib import import_module\n{statement}\n")
    write(tmp_path / "helper" / "__init__.py", "from . import inner\n")
    inner = write(tmp_path / "helper" / "inner.py", "x = 1\n")
    before = plugins.plugin_digest(plugin)
    inner.write_text("x = 2\n", encoding="utf-8")
    assert plugins.plugin_digest(plugin) != before


def test_what_is_installed_is_no_module_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plugin = write(tmp_path / "mine.py", PLUGIN.format(module="bought"))
    bought = write(tmp_path / "site" / "bought.py", HELPER)
    (tmp_path / "site" / "bought-1.0.dist-info").mkdir()
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    before = plugins.plugin_digest(plugin)
    bought.write_text("", encoding="utf-8")
    assert plugins.plugin_digest(plugin) == before


def test_an_installed_plugin_counts_with_its_version_and_all_its_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def recorded(version: str, constant: int) -> dict[str, str]:
        site = tmp_path / f"{version}-{constant}"
        write(site / "stillness_parts" / "__init__.py", "raise SystemExit(0)\n")
        write(site / "stillness_parts" / "deep" / "numbers.py", f"x = {constant}\n")
        about = site / f"stillness-{version}.dist-info"
        write(about / "METADATA", f"Metadata-Version: 2.1\nName: stillness\nVersion: {version}\n")
        write(about / "entry_points.txt", "[knockout.parts]\nstill = stillness_parts\n")
        with monkeypatch.context() as patch:
            patch.syspath_prepend(str(site))
            plugins.installed_packages.cache_clear()
            (package, files), *_ = plugins.installed_packages().items()
            plugins.installed_packages.cache_clear()
        return {package: plugins.code_digest(files, [package])}

    first, other_file, other_version = recorded("1.0", 1), recorded("1.0", 2), recorded("1.1", 1)
    assert list(first) == ["stillness==1.0"]
    assert len({*first.values(), *other_file.values(), *other_version.values()}) == 3
    with pytest.raises(RuntimeError, match=r"planned with the plugin stillness==1\.0, which is not installed here"):
        plugins.load_recorded_plugins(first)


def test_a_plugin_whose_helper_has_changed_is_refused_before_any_runs(tmp_path: Path) -> None:
    first = write(tmp_path / "first.py", f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    second, helper = write(tmp_path / "second.py", "import helper\n"), write(tmp_path / "helper.py", "x = 1\n")
    planned = {str(path): plugins.plugin_digest(path) for path in (first, second)}
    helper.write_text("x = 2\n", encoding="utf-8")
    with pytest.raises(RuntimeError, match=r"second\.py has changed since the trial was planned"):
        plugins.load_recorded_plugins(planned)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        ("import sys\nsys.exit(0)\n", r"mine\.py, line 2\): it ends the process: sys\.exit\(0\)"),
        ("\n\n1 / 0\n", r"mine\.py, line 3\): ZeroDivisionError: division by zero"),
        ("x = (\n", r"mine\.py, line 1\): SyntaxError"),
        ("import nowhere_at_all\n", r"mine\.py, line 1\): ModuleNotFoundError: No module named 'nowhere_at_all'"),
    ],
    ids=["exit", "error", "syntax", "import"],
)
def test_g8_a_plugin_that_cannot_be_imported_is_named_with_its_line(tmp_path: Path, source: str, sentence: str) -> None:
    with pytest.raises(PluginError, match=sentence):
        plugins.import_file(write(tmp_path / "mine.py", source))


def test_g5_a_plugin_of_a_results_folder_is_refused_through_links_and_helpers_too(tmp_path: Path) -> None:
    results = tmp_path / "results"
    inside = write(results / "trials" / "a" / "evil.py", "x = 1\n")
    (tmp_path / "link.py").symlink_to(inside)
    (results / "linked.py").symlink_to(write(tmp_path / "mine.py", "x = 1\n"))
    importing = write(tmp_path / "importing.py", "import results.trials.a.evil\n")
    plugins.refuse_plugins_inside(results, [str(tmp_path / "mine.py")])
    around = results / "trials" / ".." / "trials" / "a" / "evil.py"
    for named in (inside, tmp_path / "link.py", results / "linked.py", importing, around):
        with pytest.raises(PluginError, match="lies inside the results folder"):
            plugins.refuse_plugins_inside(results, [str(named)])


def test_g5_a_plugins_folder_inside_a_results_folder_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "plugins" / "norm" / "evil.py", "x = 1\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(PluginError, match="lies inside the results folder"):
        plugins.refuse_plugins_inside(tmp_path, [])
    plugins.refuse_plugins_inside(tmp_path / "results", [])


@pytest.mark.parametrize(
    "word",
    [
        "plugins=[results/evil.py]", "hydra.callbacks.x._target_=os.system", "+hydra.callbacks.x={_target_: os.system}",
        "hydra.job_logging.handlers.x.class=os.system", "hydra.searchpath=[file://results]",
        "--config-dir=results/conf", "hydra.launcher._target_=os.system", "hydra.launcher.setup=[touch x]",
        "study=../../results/evil",
    ],
)  # fmt: skip
def test_g5_a_recorded_command_runs_nothing_of_its_results_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, word: str
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "results" / "evil.py", "x = 1\n")
    with pytest.raises(ValueError, match=r"results folder"):
        refuse_untrusted_words(Path("results"), ["norm=layernorm,rmsnorm", word])


def test_a_harmless_command_is_run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    own = ["--config-dir", "conf", "study=mine", "hydra/launcher=joblib", "hydra.launcher.n_jobs=2", "model.depth=2,4"]
    refuse_untrusted_words(Path("results"), [*own, f"data.path=..{os.sep}text.txt", "seed=range(2)"])
