"""The pages of the site that follow from the code: parts, settings, commands, the table of rooms.

MkDocs calls the functions `on_…` while it builds (`hooks` in mkdocs.yml). No page below is written by hand, so that a
new part, setting, command or room appears by itself.
"""

import importlib
import inspect
import re
import tomllib
from collections.abc import Iterator
from dataclasses import MISSING as OMITTED
from dataclasses import fields, is_dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, get_args, get_type_hints

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from omegaconf import MISSING

from components.registry import Registry, kinds
from experiments.commands.main import COMMANDS
from experiments.settings.part_docs import PartDoc, part_docs
from experiments.settings.schema import schema

ROOT = Path(__file__).parents[1]
PARTS = "reference/parts"
SETTING = re.compile(r"^(?P<indent> *)(?P<key>\w+):(?: (?P<value>.*?))?(?: *# (?P<comment>.*))?$")
ROOMS_MARK = "<!-- rooms -->"


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Fill the entry `Parts` of the navigation with a page per kind."""
    (reference,) = (entry["Reference"] for entry in config.nav or [] if "Reference" in entry)
    (parts,) = (entry for entry in reference if "Parts" in entry)
    parts["Parts"] = [f"{PARTS}/index.md", *({kind: f"{PARTS}/{kind}.md"} for kind in _docs_by_kind())]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the generated pages."""
    for path, text in generated_pages().items():
        files.append(File.generated(config, path, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Put the table of rooms where a page asks for it."""
    del page, config, files
    return markdown.replace(ROOMS_MARK, rooms_table()) if ROOMS_MARK in markdown else markdown


def generated_pages() -> dict[str, str]:
    """Every generated page by its path below docs/."""
    parts = {f"{PARTS}/{kind}.md": kind_page(kind, docs) for kind, docs in _docs_by_kind().items()}
    return {
        f"{PARTS}/index.md": kinds_page(),
        **parts,
        "reference/settings.md": settings_page(),
        "reference/commands.md": commands_page(),
    }


def kinds_page() -> str:
    """All kinds: what each does, and its parts."""
    rows = (
        f"| [{kind}]({kind}.md) | {_prose(_contract_line(kind))} | {', '.join(f'`{doc.name}`' for doc in docs)} |"
        for kind, docs in _docs_by_kind().items()
    )
    total = sum(len(docs) for docs in _docs_by_kind().values())
    return "\n".join(
        [
            "# Parts",
            "",
            f"There are {total} parts of {len(_docs_by_kind())} kinds. `KIND=PART` chooses a part and "
            "`KIND.KNOB=VALUE` sets one of its knobs.",
            "",
            "| kind | what it does | parts |",
            "|---|---|---|",
            *rows,
            "",
        ]
    )


def kind_page(kind: str, docs: list[PartDoc]) -> str:
    """One kind: its contract, then every part with formula, knobs and source."""
    roles = _registry(kind).roles
    wiring = ", ".join(f"`{name}`" for name in _registry(kind).wiring) or "nothing"
    lines = [f"# {kind}", "", _contract_line(kind), "", f"The model passes {wiring} to a part of this kind."]
    if roles:
        lines += [f"The same parts can also be chosen as {', '.join(f'`{role}=PART`' for role in roles)}."]
    for doc in docs:
        lines += ["", f"## {doc.name}", "", f"`{kind}={doc.name}`", "", _prose(doc.formula), ""]
        lines += [f"- **{label}:** {value}" for label, value in _details(doc) if value]
    return "\n".join([*lines, ""])


def settings_page() -> str:
    """Every setting that is no part's knob: type, default, comment, from the schema and conf/config.yaml."""
    lines = [
        "# Settings",
        "",
        "The command line sets any of these: `knockout run trainer.max_steps=1000 model.width=128`. "
        "`knockout run --cfg job` prints all settings of a run, the knobs of its parts included.",
    ]
    for section, rows in groupby(setting_rows(), key=lambda row: row[0].rpartition(".")[0]):
        title = f"`{section}`" if section else "Top level"
        lines += ["", f"## {title}", "", "| setting | type | default | meaning |", "|---|---|---|---|"]
        lines += [
            f"| `{key}` | {_prose(kind)} | {_prose(value)} | {_prose(comment)} |" for key, kind, value, comment in rows
        ]
    return "\n".join([*lines, ""])


def setting_rows() -> Iterator[tuple[str, str, str, str]]:
    """Each setting as (key, type, default, comment); those of the top level first."""
    written, hints = _written_settings(ROOT / "conf" / "config.yaml"), get_type_hints(schema())
    registered = {*kinds("components"), *kinds("experiments"), "qk_norm", "diagnostic", "trial"}
    sections = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    for name in (name for name in hints if name not in registered and name not in sections):
        yield (name, _type_text(hints[name]), *written.get(name, ("", "")))
    for section, hint in sections.items():
        types = get_type_hints(hint)
        for each in fields(hint):
            key, default = f"{section}.{each.name}", "" if each.default in (MISSING, OMITTED) else str(each.default)
            yield (key, _type_text(types[each.name]), *written.get(key, (default, "")))


def commands_page() -> str:
    """Every command with its purpose, and where it is more than one sentence, what its function says."""
    lines = ["# Commands", "", "`knockout COMMAND --help` lists the options of a command.", ""]
    lines += ["| command | what it does |", "|---|---|"]
    lines += [f"| [`{name}`](#{name}) | {_prose(purpose)} |" for name, (_, _, purpose) in COMMANDS.items()]
    for name, (module, function, purpose) in COMMANDS.items():
        text = inspect.getdoc(getattr(importlib.import_module(f"experiments.commands.{module}"), function)) or ""
        lines += ["", f"## {name}", "", f"{purpose[0].upper()}{purpose[1:]}", "", text]
    return "\n".join([*lines, ""])


def rooms_table() -> str:
    """The rooms of `analysis` and `experiments` from the bottom up, with the sentences of their docstrings."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    lines = ["| room | what it is |", "|---|---|"]
    for contract in (each for each in contracts if "containers" in each):
        (package,) = contract["containers"]
        names = [name.strip() for layer in reversed(contract["layers"]) for name in layer.split("|")]
        for name in (f"{package}.{name}" for name in names):
            lines.append(
                f"| `{name}` | {_prose(_first_paragraph(inspect.getdoc(importlib.import_module(name)) or ''))} |"
            )
    return "\n".join(lines)


def _docs_by_kind() -> dict[str, list[PartDoc]]:
    return {kind: list(docs) for kind, docs in groupby(part_docs(), key=lambda doc: doc.kind)}


def _registry(kind: str) -> Registry[object]:
    return (kinds("components") | kinds("experiments"))[kind]


def _contract_line(kind: str) -> str:
    """The first sentence of the kind's folder."""
    return _first_paragraph(inspect.getdoc(importlib.import_module(_registry(kind).contract.__module__)) or "")


def _details(doc: PartDoc) -> list[tuple[str, str]]:
    return [("Knobs", f"`{doc.knobs}`" if doc.knobs else ""), ("Source", _prose(doc.source))]


def _first_paragraph(text: str) -> str:
    return " ".join(text.partition("\n\n")[0].split())


def _prose(text: str) -> str:
    """Formulas as Markdown shows them: what would be emphasis, a link or a tag stands as it is."""
    return re.sub(r"([\\*_<\[\]|])(?=[^`]*(?:`[^`]*`[^`]*)*$)", r"\\\1", text)


def _type_text(hint: object) -> str:
    """A type as a person reads it."""
    if hint is Any:
        return "anything"
    return hint.__name__ if inspect.isclass(hint) and not get_args(hint) else str(hint).replace("typing.", "")


def _written_settings(path: Path) -> dict[str, tuple[str, str]]:
    """Each setting's value and comment in a YAML file of at most two levels, by its key."""
    written: dict[str, tuple[str, str]] = {}
    section = ""
    for line in filter(None, map(SETTING.match, path.read_text(encoding="utf-8").splitlines())):
        key = f"{section}.{line['key']}" if line["indent"] else line["key"]
        section = section if line["indent"] else line["key"]
        written[key] = (line["value"] or "", line["comment"] or "")
    return written
