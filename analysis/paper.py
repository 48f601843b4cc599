"""What a paper needs of a study: tables in LaTeX, figures at column width, an appendix, the parts' sources."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib
import pandas as pd
from matplotlib.figure import Figure

from analysis import contents, limits, plots
from analysis.results import Results, opened
from analysis.verdict import verdicts
from analysis.words import interval, plain, signed

COLUMN = 3.25  # inches
FOLDER = "paper"


def write_paper(home: Path) -> Path:
    """`values.tex`, `effects.tex`, `appendix.tex` (for booktabs), `sources.bib` and PDF figures; their folder.

    The same folder gives the same bytes.
    """
    results, paper = opened(home), home / FOLDER
    paper.mkdir(exist_ok=True)
    tables = {"values": values(results), "effects": effects(results), "appendix": appendix(results)}
    for name, table in tables.items():
        (paper / f"{name}.tex").write_text(latex(table), encoding="utf-8")
    (paper / "sources.bib").write_text(bibliography(results.study.get("sources", {})), encoding="utf-8")
    for measure in (name for name in [*results.endpoints, "train/loss"] if name in results.measures.index):
        save(plots.curves(results, measure), paper / f"curve-{_file(measure)}.pdf")
    judged = results.effects()
    for endpoint in results.endpoints if len(judged) else ():
        margin = results.study["margin"].get(endpoint)
        save(plots.forest(judged, endpoint, results.arms, margin), paper / f"effects-{_file(endpoint)}.pdf")
    return paper


def values(results: Results) -> pd.DataFrame:
    """Each arm's mean ± standard deviation over seeds of each endpoint, its parameters and training FLOPs a token."""
    sizes = {row["arm"]: row for row in contents.costs(results)}
    found = pd.DataFrame({"arm": results.arms})
    for endpoint, table in results.endpoints.items():
        said = {
            arm: f"{table[arm].mean():.4g} ± {table[arm].std():.2g} (n = {table[arm].count()})" for arm in results.arms
        }
        found[results.labelled(endpoint)] = found.arm.map(said)
    counted = {arm: f"{size['parameters']:,}" for arm, size in sizes.items()}
    return found.assign(parameters=found.arm.map(counted), FLOPs=[f"{sizes[arm]['flops']:.3g}" for arm in found.arm])


def effects(results: Results) -> pd.DataFrame:
    """Each effect with its interval, pairs, corrected p, what could have been seen, and what it was judged."""
    columns = ("arm", "endpoint", "effect", "95 % interval", "n", "p (Holm)", "could see", "expected", "judged")
    lines = []
    for verdict in verdicts(results):
        row = verdict.effect
        numbers = (signed(row["effect"]), interval(row), row["pairs"], plain(row["p_holm"]), plain(row["detectable"]))
        lines.append((row["arm"], row["endpoint"], *numbers, verdict.expected or "–", str(verdict.judgement)))
    return pd.DataFrame(lines, columns=list(columns))


def appendix(results: Results) -> pd.DataFrame:
    """All settings of the baseline, where arms differ, seeds, what is not shown, and what it ran on."""
    first = results.trials[results.trials.arm == results.arms[0]].iloc[0]
    lines = [(key, str(first[key])) for key in results.settings if first[key] is not None]
    differing = contents.differences(results)
    lines += [
        (f"{key}, {arm}", str(v))
        for key, each in differing.items()
        for arm, v in zip(results.arms[1:], each[1:], strict=True)
    ]
    lines.append(("seeds", ", ".join(map(str, results.study["seeds"]))))
    lines += [("not shown", line) for line in limits.missing(results)]
    lines += [("not to be concluded", line) for line in limits.unproven(results, verdicts(results))]
    lines += list(contents.provenance(results).items())
    return pd.DataFrame([*lines, ("command", results.study["command"])], columns=["setting", "value"])


def latex(table: pd.DataFrame) -> str:
    r"""A tabular for booktabs, everything a user can type escaped.

    >>> print(latex(pd.DataFrame({"a_b": ["50 %", "−1"]})))
    \begin{tabular}{l}
    \toprule
    a\_b \\
    \midrule
    50 \% \\
    $-$1 \\
    \bottomrule
    \end{tabular}
    <BLANKLINE>
    """
    made = table.rename(columns=_escaped).map(_escaped).style.hide(axis="index").to_latex(hrules=True)
    return str(made)


def _escaped(value: Any) -> str:
    return "".join(LATEX.get(character, character) for character in str(value).replace("\n", " "))


LATEX = {c: f"\\{c}" for c in "&%$#_{}"} | {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "±": r"$\pm$", "−": "$-$",
    "–": "--", "×": r"$\times$", "→": r"$\to$", "<": r"\textless{}", ">": r"\textgreater{}",
    "√": r"$\surd$", "·": r"$\cdot$", "∞": r"$\infty$", "⁷": "$^7$",
}  # fmt: skip


def bibliography(sources: Mapping[str, str]) -> str:
    """A BibTeX entry for each part's source, as far as its sentence says: authors, year, arXiv number, the place.

    >>> print(bibliography({"norm=rmsnorm": "Zhang & Sennrich 2019, arXiv:1910.07467, eq. 4."}))
    @misc{norm-rmsnorm,
      author = {Zhang and Sennrich},
      year = {2019},
      eprint = {1910.07467},
      archiveprefix = {arXiv},
      note = {Zhang \\& Sennrich 2019, arXiv:1910.07467, eq. 4.}
    }
    <BLANKLINE>
    """
    return "\n".join(_entry(part, said) for part, said in sorted(sources.items()))


def _entry(part: str, said: str) -> str:
    who = re.match(r"(?:after )?(.+?) (\d{4})", said)
    where = re.search(r"arXiv:(\d{4}\.\d{4,5})", said)
    fields = {"note": _escaped(said)}
    if where:
        fields = {"eprint": where[1], "archiveprefix": "arXiv"} | fields
    if who:
        authors = who[1].replace(" et al.", " and others").replace(" & ", " and ")
        fields = {"author": _escaped(authors), "year": who[2]} | fields
    lines = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items())
    return f"@misc{{{part.replace('=', '-')},\n{lines}\n}}\n"


def save(figure: Figure, path: Path) -> None:
    """At column width, the same bytes for the same figure."""
    width, height = figure.get_size_inches()
    figure.set_size_inches(COLUMN, height * COLUMN / width)
    with matplotlib.rc_context(plots.STYLE | {"pdf.fonttype": 42, "font.size": 7}):
        figure.savefig(path, format="pdf", metadata={"CreationDate": None})


def _file(name: str) -> str:
    return re.sub(r"\W+", "-", name)
