"""How far a page's numbers reach: what is not in them, and what must not be concluded from them."""

from collections.abc import Iterable, Mapping
from typing import Any

from analysis.findings.cautions import cautions
from analysis.findings.coverage import StudyCoverage
from analysis.findings.judgement import ALPHA, Judgement
from analysis.findings.verdict import Verdict
from analysis.record.summary import read_summary
from analysis.statistics.comparability import arms_seeing_future, differing_facets, incomparable_reason
from analysis.statistics.effects import paired_effects
from analysis.statistics.power import pairs_for_exact
from analysis.statistics.summary import arm_costs
from analysis.tables.columns import as_rows
from analysis.tables.results import Results

MATCHED_WITHIN = 0.01  # what a budget calls equal


REMEASURE_HINT = "where another study trained them without it, runtime.unmeasured=again measures it"


def missing_data(results: Results) -> list[str]:
    """What a reader might think is there and is not: trials by name, and all else."""
    excluded, absent = results.study.get("exclude", {}), results.trials[results.trials.status != "finished"]
    return [*(_absence_note(trial, excluded) for trial in as_rows(absent)), *disclosures(results)]


def disclosures(results: Results) -> list[str]:
    """What a reader should know of the study besides the trials that are missing."""
    impossible = results.study.get("impossible", {})
    return [
        *(f"{arm}: left out, as it cannot be built: {reason}" for arm, reason in impossible.items()),
        *(f"this design cannot tell apart: {effects}" for effects in results.study.get("aliases", [])),
        *_unmeasured_endpoints(results),
        *_trials_of_other_code(results),
        *_unmatched_sizes(results),
        *_unequal_tokens(results),
        *_changes_after_results(results),
        *_answers_in_sight(results),
        *_incomparable_endpoints(results),
        *_exact_test_note(results),
        *_tuning_notes(results),
    ]


def _exact_test_note(results: Results) -> list[str]:
    """Whether exact tests, which endpoints of 0 and 1 rest on, can decide anything with so many seeds."""
    compared = ((arm, m) for m in results.endpoints for arm in results.arms[1:])
    rows_ = sum(not incomparable_reason(results, arm, measure) for arm, measure in compared)
    seeds = len(results.study["seeds"])
    fewest = pairs_for_exact(ALPHA / max(1, rows_))
    if not rows_ or seeds >= fewest:
        return []
    return [f"exact tests: with {rows_} rows none can reach a corrected p below {ALPHA} with fewer than {fewest} seeds"]


def not_shown(results: Results, judged: Iterable[Verdict]) -> list[str]:
    """What must not be concluded: from rows that are undecided, and from what the study compares."""
    measured = [verdict for verdict in judged if verdict.effect["pairs"] > 1]
    undecided = sum(verdict.judgement is Judgement.undecided for verdict in measured)
    rows_ = "a row" if undecided == 1 else f"each of {undecided} rows"
    few = [f"that there is no effect, from {rows_} that is undecided: it may be as large as an end of the interval"]
    return [*few * bool(undecided), *cautions(StudyCoverage.of(results.study, results.measures.index))]


def _tuning_notes(results: Results) -> list[str]:
    """What arms chose for themselves, and where a better choice may lie beyond what was tried."""
    tuned: Mapping[str, Mapping[str, str]] = results.study.get("tuned", {})
    if not tuned:
        return []
    chosen = [f"{arm}: {key}={value}" for arm, levels in tuned.items() for key, value in levels.items()]
    edges = results.study["edges"]
    beyond = [f"on the edge of what was tried, so that better may lie beyond: {'; '.join(edges)}"] * bool(edges)
    tried = f"chosen for each arm on seeds of their own: {'; '.join(chosen)}; with the same for all arms: study"
    return [f"{tried} {results.study['tuning']!r}", *beyond]


def _unmeasured_endpoints(results: Results) -> list[str]:
    """Endpoints that do not count in finished trials, and why."""
    finished = results.trials[results.trials.status == "finished"]
    counted = {measure: int(table.count().sum()) for measure, table in results.endpoints.items()}
    lacking = {measure: len(finished) - count for measure, count in counted.items() if count < len(finished)}
    shared, unknown = int((finished.beside > 0).sum()), int(finished.beside.isna().sum())
    told = [f"{shared} trials shared their device with others"] * bool(shared)
    told += [f"nobody knows of {unknown} trials whether they did"] * bool(unknown)
    alone = f"{' and '.join(told)}; moved out of trials/ they run again, alone with runtime.slots=1"
    timed = {measure for measure in lacking if told and results.measures.repeats.get(measure) == "alone"}
    few = {m: f"no finite number in {n} finished trials; {REMEASURE_HINT}" for m, n in lacking.items()}
    return [f"{measure}: {alone if measure in timed else reason}" for measure, reason in few.items()]


def _trials_of_other_code(results: Results) -> list[str]:
    """Trials that were finished before the code of their arm changed."""
    said = ((trial, read_summary(results.trial_folder(trial["trial"]))) for trial in as_rows(results.trials))
    old = [t["trial"] for t, s in said if s and s["code"] != results.study["arms"][t["arm"]]["code"]]
    return [f"trials made by other code than this study was planned with: {', '.join(old)}"] if old else []


def _unmatched_sizes(results: Results) -> list[str]:
    """Arms whose size is not within 1 % of the baseline's, and whether the study asked for that."""
    budget = results.study["budget"]
    share = {"flops": "more_flops"}.get(budget, "more")
    far = [f"{row['arm']} {100 * row[share]:+.1f} %" for row in arm_costs(results) if abs(row[share]) > MATCHED_WITHIN]
    if not far:
        return []
    if budget == "none":
        return [f"parameters are not matched (budget=parameters does that where FFNs can): {'; '.join(far)}"]
    return [f"no FFN width brings the {budget} of these arms nearer to the baseline's: {'; '.join(far)}"]


def _unequal_tokens(results: Results) -> list[str]:
    """Arms whose trials saw another number of tokens than the baseline's, or other data, though no factor says so."""
    finished = results.trials[results.trials.status == "finished"]
    tokens = finished.groupby("arm").tokens.median()
    base = tokens.get(results.arms[0])
    other = tokens[tokens != base] if base else tokens[:0]
    lines = [f"{arm}: {n:,.0f} tokens a trial, the baseline {base:,.0f}" for arm, n in other.items()]
    read = {str(s["data"]["content"]) for trial in finished.trial if (s := read_summary(results.trial_folder(trial)))}
    swept = any(factor.split(".")[0] == "data" for factor in results.study["factors"])
    differ = len(read) > 1 and not swept
    return [*lines, *["trials of this study read different data: its differences may be theirs"] * differ]


def _changes_after_results(results: Results) -> list[str]:
    """What was changed once the results could be seen."""
    study = results.study
    grown = "extended from {} to {} seeds after its results could be seen: p-values are too small"
    lines = [grown.format(before, len(study["seeds"])) for before in study.get("extended", [])[-1:]]
    changed = ", ".join(study.get("changed", []))
    return [*lines, *[f"changed after the results could be seen, so not said before them: {changed}"] * bool(changed)]


def _answers_in_sight(results: Results) -> list[str]:
    """Arms whose models read what they should not, as was found by changing it before anything trained."""
    outcome = "which this study allows" if results.study.get("allow_seeing_future") else "so it is in no comparison"
    future = "{} sees the future: a later token changes what its model says of an earlier one, {}"
    batch = "{} reads across a batch: another sequence of the batch changes what its model says of this one"
    unknown = "{}: whether its model sees the future could not be tried: {}"
    arms = results.study["arms"].items()
    return [
        *(future.format(arm, outcome) for arm in arms_seeing_future(results)),
        *(batch.format(label) for label, arm in arms if arm.get("reads_across_batch")),
        *(unknown.format(label, arm["untried"]) for label, arm in arms if arm.get("untried")),
    ]


def _incomparable_endpoints(results: Results) -> list[str]:
    """Endpoints of arms that are about something else than the baseline's, with the reason."""
    found = ((m, arm, differing_facets(results, arm, m)) for m in results.endpoints for arm in results.arms[1:])
    return [f"{measure} under {arm} is not compared: {reason}" for measure, arm, reason in found if reason]


def _absence_note(trial: Mapping[str, Any], excluded: Mapping[Any, str]) -> str:
    where = f"{trial['arm']}, seed {trial['seed']}"
    if trial["status"] == "excluded":
        reasons = [reason for id, reason in excluded.items() if trial["trial"].startswith(str(id))]
        return f"{where}: excluded: {'; '.join(reasons)} (trial {trial['trial']}, which {trial['ended']})"
    if trial["status"] == "diverged":
        step = int(trial["diverged_step"])
        return f"{where}: diverged at step {step}; it counts as diverged and in no mean (trial {trial['trial']})"
    return f"{where}: not finished, so it counts in no number here (trial {trial['trial']})"


def effects_with_excluded(results: Results) -> list[dict[str, Any]]:
    """Each effect without and with the trials that the study excludes."""
    if not results.study.get("exclude"):
        return []
    without, whole = paired_effects(results), paired_effects(results.with_excluded())
    return [{**row, "whole": other} for row, other in zip(as_rows(without), as_rows(whole), strict=True)]
