"""The files that a paper needs of a study: LaTeX tables, figures at column width, an appendix, a bibliography."""

import re
from collections.abc import Mapping
from pathlib import Path

import matplotlib
import pandas as pd
from matplotlib.figure import Figure

from analysis.findings.disclosures import missing_data, not_shown
from analysis.findings.verdict import verdicts
from analysis.page.format import interval_text, plain_number, signed_number
from analysis.page.plots import STYLE, curve_plot, effects_by_endpoint, forest_plot
from analysis.statistics.effects import paired_effects
from analysis.statistics.summary import arm_costs, settings_that_differ, trial_environments
from analysis.tables.results import Results, read_results

COLUMN = 3.25  # inches


FOLDER = "paper"


def write_paper(home: Path) -> Path:
    """`values.tex`, `effects.tex`, `appendix.tex` (for booktabs), `sources.bib` and PDF figures; their folder.

    The same folder gives the same bytes.
    """
    results, paper = read_results(home), home / FOLDER
    paper.mkdir(exist_ok=True)
    tables = {"values": values_table(results), "effects": effects_table(results), "appendix": appendix_table(results)}
    for name, table in tables.items():
        (paper / f"{name}.tex").write_text(latex_table(table), encoding="utf-8")
    (paper / "sources.bib").write_text(bibliography(results.study.sources), encoding="utf-8")
    for measure in (name for name in [*results.endpoints, "train/loss"] if name in results.measures.index):
        save_figure(curve_plot(results, measure), paper / f"curve-{_file_name(measure)}.pdf")
    for endpoint, effects in effects_by_endpoint(paired_effects(results)).items():
        figure = forest_plot(effects, results.arms, results.study.margin.get(endpoint))
        save_figure(figure, paper / f"effects-{_file_name(endpoint)}.pdf")
    return paper


def values_table(results: Results) -> pd.DataFrame:
    """Each arm's mean ± standard deviation over seeds of each endpoint, its parameters and training FLOPs per token."""
    columns: dict[str, list[str]] = {"arm": results.arms}
    for endpoint, table in results.endpoints.items():
        columns[results.label_with_unit(endpoint)] = [
            f"{table[arm].mean():.4g} ± {table[arm].std():.2g} (n = {table[arm].count()})" for arm in results.arms
        ]
    costs = arm_costs(results)
    columns["parameters"] = [f"{cost.parameters:,}" for cost in costs]
    columns["FLOPs"] = [f"{cost.flops:.3g}" for cost in costs]
    return pd.DataFrame(columns)


def effects_table(results: Results) -> pd.DataFrame:
    """Each effect with its interval, pairs, corrected p, detectable effect, expectation and verdict."""
    rows = [
        (
            verdict.effect.arm,
            verdict.effect.endpoint,
            signed_number(verdict.effect.effect),
            interval_text(verdict.effect),
            verdict.effect.pairs,
            plain_number(verdict.effect.p_holm),
            plain_number(verdict.effect.detectable),
            verdict.expected or "–",
            str(verdict.judgement),
        )
        for verdict in verdicts(results)
    ]
    return pd.DataFrame(rows, columns=EFFECT_COLUMNS)


EFFECT_COLUMNS = [
    "arm", "endpoint", "effect", "95 % interval", "n", "p (Holm)", "detectable effect (80 % power)", "expected",
    "verdict",
]  # fmt: skip


def appendix_table(results: Results) -> pd.DataFrame:
    """All settings of the baseline, the settings in which arms differ, seeds, missing data, and the environment."""
    baseline = results.trials[results.trials.arm == results.arms[0]].iloc[0]
    rows = [(key, str(baseline[key])) for key in results.settings if baseline[key] is not None]
    for key, values in settings_that_differ(results).items():
        rows += [(f"{key}, {arm}", str(value)) for arm, value in zip(results.arms[1:], values[1:], strict=True)]
    rows.append(("seeds", ", ".join(map(str, results.study.seeds))))
    rows += [("missing or excluded", line) for line in missing_data(results)]
    rows += [("not shown", line) for line in not_shown(results, verdicts(results))]
    rows += [*trial_environments(results).items(), ("command", results.study.command)]
    return pd.DataFrame(rows, columns=["setting", "value"])


def latex_table(table: pd.DataFrame) -> str:
    r"""A tabular for booktabs, everything a user can type escaped.

    >>> print(latex_table(pd.DataFrame({"a_b": ["50 %", "−1"]})))
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
    styled = table.rename(columns=_escaped).map(_escaped).style.hide(axis="index")
    return str(styled.to_latex(hrules=True))


def _escaped(value: object) -> str:
    return "".join(LATEX.get(character, character) for character in str(value).replace("\n", " "))


LATEX = {c: f"\\{c}" for c in "&%$#_{}"} | {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "±": r"$\pm$", "−": "$-$",
    "–": "--", "×": r"$\times$", "→": r"$\to$", "<": r"\textless{}", ">": r"\textgreater{}",
    "√": r"$\surd$", "·": r"$\cdot$", "∞": r"$\infty$", "⁷": "$^7$",
}  # fmt: skip


def bibliography(sources: Mapping[str, str]) -> str:
    """A BibTeX entry for each part's source, with the authors, year and arXiv number that its sentence names.

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
    return "\n".join(_bibtex_entry(part, source) for part, source in sorted(sources.items()))


def _bibtex_entry(part: str, source: str) -> str:
    authors_and_year = re.match(r"(?:after )?(.+?) (\d{4})", source)
    arxiv_number = re.search(r"arXiv:(\d{4}\.\d{4,5})", source)
    fields = {}
    if authors_and_year:
        authors = authors_and_year[1].replace(" et al.", " and others").replace(" & ", " and ")
        fields |= {"author": _escaped(authors), "year": authors_and_year[2]}
    if arxiv_number:
        fields |= {"eprint": arxiv_number[1], "archiveprefix": "arXiv"}
    fields["note"] = _escaped(source)
    lines = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items())
    return f"@misc{{{part.replace('=', '-')},\n{lines}\n}}\n"


def save_figure(figure: Figure, path: Path) -> None:
    """Write a figure at column width; the same figure gives the same bytes."""
    width, height = figure.get_size_inches()
    figure.set_size_inches(COLUMN, height * COLUMN / width)
    with matplotlib.rc_context(STYLE | {"pdf.fonttype": 42, "font.size": 7}):
        figure.savefig(path, format="pdf", metadata={"CreationDate": None})


def _file_name(name: str) -> str:
    return re.sub(r"\W+", "-", name)
