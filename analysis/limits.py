"""How far a page's numbers reach: what is not in them, and what must not be concluded from them."""

from collections.abc import Iterable, Mapping
from typing import Any

from analysis.cautions import cautions
from analysis.compared import Compared
from analysis.contents import costs
from analysis.frame import rows
from analysis.judgement import ALPHA, Judgement
from analysis.power import pairs_for_exact
from analysis.results import Results, summary
from analysis.verdict import Verdict

MATCHED = 0.01  # what a budget calls equal
AGAIN = "where another study trained them without it, runtime.unmeasured=again measures it"


def missing(results: Results) -> list[str]:
    """What a reader might think is there and is not: trials by name, and all else."""
    excluded, absent = results.study.get("exclude", {}), results.trials[results.trials.status != "finished"]
    return [*(_absence(trial, excluded) for trial in rows(absent)), *reservations(results)]


def reservations(results: Results) -> list[str]:
    """What a reader should know of the study besides the trials that are missing."""
    impossible = results.study.get("impossible", {})
    return [
        *(f"{arm}: left out, as it cannot be built: {reason}" for arm, reason in impossible.items()),
        *(f"this design cannot tell apart: {effects}" for effects in results.study.get("aliases", [])),
        *_unmeasured(results), *_of_other_code(results), *_unmatched(results), *_unlike(results),
        *_after_a_look(results),
        *(f"{arm} sees the future: a causal language model under the full mask" for arm in _clairvoyant(results)),
        *_few(results), *_tuning(results),
    ]  # fmt: skip


def _few(results: Results) -> list[str]:
    """Whether exact tests, which endpoints of 0 and 1 rest on, can decide anything with so many seeds."""
    seeds, rows_ = len(results.study["seeds"]), len(results.endpoints) * (len(results.arms) - 1)
    fewest = pairs_for_exact(ALPHA / max(1, rows_))
    if not rows_ or seeds >= fewest:
        return []
    return [f"exact tests: with {rows_} rows none can reach a corrected p below {ALPHA} with fewer than {fewest} seeds"]


def unproven(results: Results, judged: Iterable[Verdict]) -> list[str]:
    """What must not be concluded: from rows that are undecided, and from what the study compares."""
    measured = [verdict for verdict in judged if verdict.effect["pairs"] > 1]
    undecided = sum(verdict.judgement is Judgement.undecided for verdict in measured)
    rows_ = "a row" if undecided == 1 else f"each of {undecided} rows"
    few = [f"that there is no effect, from {rows_} that is undecided: it may be as large as an end of the interval"]
    return [*few * bool(undecided), *cautions(Compared.of(results.study, results.measures.index))]


def _tuning(results: Results) -> list[str]:
    """What arms chose for themselves, and where a better choice may lie beyond what was tried."""
    tuned: Mapping[str, Mapping[str, str]] = results.study.get("tuned", {})
    if not tuned:
        return []
    chosen = [f"{arm}: {key}={value}" for arm, levels in tuned.items() for key, value in levels.items()]
    edges = results.study["edges"]
    beyond = [f"on the edge of what was tried, so that better may lie beyond: {'; '.join(edges)}"] * bool(edges)
    tried = f"chosen for each arm on seeds of their own: {'; '.join(chosen)}; with the same for all arms: study"
    return [f"{tried} {results.study['tuning']!r}", *beyond]


def _unmeasured(results: Results) -> list[str]:
    """Endpoints that do not count in finished trials, and why."""
    finished = results.trials[results.trials.status == "finished"]
    counted = {measure: int(table.count().sum()) for measure, table in results.endpoints.items()}
    lacking = {measure: len(finished) - count for measure, count in counted.items() if count < len(finished)}
    shared, unknown = int((finished.beside > 0).sum()), int(finished.beside.isna().sum())
    told = [f"{shared} trials shared their device with others"] * bool(shared)
    told += [f"nobody knows of {unknown} trials whether they did"] * bool(unknown)
    alone = f"{' and '.join(told)}; moved out of trials/ they run again, alone with runtime.slots=1"
    timed = {measure for measure in lacking if told and results.measures.repeats.get(measure) == "alone"}
    few = {m: f"no finite number in {n} finished trials; {AGAIN}" for m, n in lacking.items()}
    return [f"{measure}: {alone if measure in timed else reason}" for measure, reason in few.items()]


def _of_other_code(results: Results) -> list[str]:
    """Trials that were finished before the code of their arm changed."""
    said = ((trial, summary(results.folder(trial["trial"]))) for trial in rows(results.trials))
    old = [t["trial"] for t, s in said if s and s["code"] != results.study["arms"][t["arm"]]["code"]]
    return [f"trials made by other code than this study was planned with: {', '.join(old)}"] if old else []


def _unmatched(results: Results) -> list[str]:
    """Arms whose size is not within 1 % of the baseline's, and whether the study asked for that."""
    budget = results.study["budget"]
    share = {"flops": "more_flops"}.get(budget, "more")
    far = [f"{row['arm']} {100 * row[share]:+.1f} %" for row in costs(results) if abs(row[share]) > MATCHED]
    if not far:
        return []
    if budget == "none":
        return [f"parameters are not matched (budget=parameters does that where FFNs can): {'; '.join(far)}"]
    return [f"no FFN width brings the {budget} of these arms nearer to the baseline's: {'; '.join(far)}"]


def _unlike(results: Results) -> list[str]:
    """Arms whose trials saw another number of tokens than the baseline's, or other data, though no factor says so."""
    finished = results.trials[results.trials.status == "finished"]
    tokens = finished.groupby("arm").tokens.median()
    base = tokens.get(results.arms[0])
    other = tokens[tokens != base] if base else tokens[:0]
    lines = [f"{arm}: {n:,.0f} tokens a trial, the baseline {base:,.0f}" for arm, n in other.items()]
    read = {str(s["data"]["content"]) for trial in finished.trial if (s := summary(results.folder(trial)))}
    swept = any(factor.split(".")[0] == "data" for factor in results.study["factors"])
    differ = len(read) > 1 and not swept
    return [*lines, *["trials of this study read different data: its differences may be theirs"] * differ]


def _after_a_look(results: Results) -> list[str]:
    """What was changed once the results could be seen."""
    study = results.study
    grown = "extended from {} to {} seeds after its results could be seen: p-values are too small"
    lines = [grown.format(before, len(study["seeds"])) for before in study.get("extended", [])[-1:]]
    changed = ", ".join(study.get("changed", []))
    return [*lines, *[f"changed after the results could be seen, so not said before them: {changed}"] * bool(changed)]


def _clairvoyant(results: Results) -> list[str]:
    trials = results.trials
    if not {"mask", "objective"} <= set(trials.columns):
        return []
    return list(trials.arm[(trials["mask"] == "full") & (trials["objective"] == "causal_lm")].unique())


def _absence(trial: Mapping[str, Any], excluded: Mapping[Any, str]) -> str:
    where = f"{trial['arm']}, seed {trial['seed']}"
    if trial["status"] == "excluded":
        reasons = [reason for id, reason in excluded.items() if trial["trial"].startswith(str(id))]
        return f"{where}: excluded: {'; '.join(reasons)} (trial {trial['trial']}, which {trial['ended']})"
    if trial["status"] == "diverged":
        step = int(trial["diverged_step"])
        return f"{where}: diverged at step {step}; it counts as diverged and in no mean (trial {trial['trial']})"
    return f"{where}: not finished, so it counts in no number here (trial {trial['trial']})"
