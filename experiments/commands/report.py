"""Pages of studies, and two studies side by side."""

from collections.abc import Sequence

from analysis.page.compare import comparison_lines, settings_lines, shared_trials
from analysis.page.paper import write_paper
from analysis.page.report import write_page
from analysis.page.several_studies import page_name, write_overview
from analysis.record.files import DamagedFile
from analysis.record.study_file import find_study, study_names
from analysis.tables.results import Results, read_results
from experiments.commands.arguments import command_parser
from experiments.lifecycle.terminal import echo

FORMATS = ("page", "paper")
INDEX = "index"  # the name of the page of all studies


def report(words: list[str]) -> None:
    """`knockout report [STUDY …]`: write the pages of these studies, or of all; print verdicts and paths.

    Raises FileNotFoundError for a study that the results folder does not have, and for a folder without studies;
    ValueError, after all other pages are written, for studies with a damaged file.
    """
    parser = command_parser("report", "Write the pages of studies again from the results folder.")
    parser.add_argument("studies", nargs="*", help="names of studies (default: all); several get one joint page too")
    parser.add_argument("--format", default="page", choices=FORMATS, help="page, or paper: LaTeX, PDF, BibTeX")
    arguments = parser.parse_args(words)
    names = dict.fromkeys(arguments.studies or study_names(arguments.results))
    studies, damages = [], []
    for name in names:
        try:
            study = read_results(find_study(arguments.results, name))
            echo(_write_pages(study, arguments.format))
            studies.append(study)
        except DamagedFile as damage:
            damages.append(str(damage))
    if studies and not arguments.studies:
        echo(_write_index(studies))
    elif len(studies) > 1:
        echo(f"these {len(studies)} studies: {write_overview(studies, page_name(studies)).absolute()}")
    if damages:
        raise ValueError("\n".join(damages))


def _write_pages(study: Results, wanted: str) -> str:
    """Write a study's pages, and a paper's files if these are wanted; the verdicts, and where everything lies."""
    path, verdicts = write_page(study)
    lines = [verdicts, f"report: {path.absolute()}"]
    if wanted == "paper":
        lines.append(f"paper: {write_paper(study.home).absolute()}")
    return "\n".join(lines)


def _write_index(studies: Sequence[Results]) -> str:
    """Write the page of all studies but those in which arms only chose their settings."""
    tuning = {study.study.tuning for study in studies}
    shown = [study for study in studies if study.study.name not in tuning]
    return f"all studies: {write_overview(shown, INDEX).absolute()}"


def compare(words: list[str]) -> None:
    """`knockout compare A B`: the effects that both studies measure, and how the settings of their baselines differ."""
    parser = command_parser("compare", "Show the effects of two studies side by side.")
    parser.add_argument("studies", nargs=2, metavar="STUDY", help="the studies' names")
    arguments = parser.parse_args(words)
    first, second = (read_results(find_study(arguments.results, name)) for name in arguments.studies)
    if first.home == second.home:
        raise ValueError(f"{first.study.name} is compared with itself; name two studies")
    echo(f"{comparison_lines(first, second)}\n{settings_lines(first, second)}")
    if common := shared_trials(first, second):
        echo(f"the studies share {common} trials, so that intervals of independent studies mean little")
