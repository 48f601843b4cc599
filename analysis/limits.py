"""How far a page's numbers reach: what is not in them, and what must not be concluded from them."""

from collections.abc import Iterable, Mapping
from typing import Any

from analysis.cautions import Compared, cautions
from analysis.contents import costs
from analysis.frame import rows
from analysis.results import Results, summary
from analysis.verdict import Judgement, Verdict

MATCHED = 0.01  # what a budget calls equal
EXACT = 6  # pairs from which a sign-flip test can reach p < 0.05: 2 / 2⁶


def missing(results: Results) -> list[str]:
    """What a reader might think is there and is not."""
    lines = [_absence(trial) for trial in rows(results.trials) if trial["status"] != "finished"]
    impossible = results.study.get("impossible", {})
    lines += [f"{arm}: left out, as it cannot be built: {reason}" for arm, reason in impossible.items()]
    lines += [*_unmeasured(results), *_of_other_code(results), *_unmatched(results), *_unlike(results)]
    lines += _extended(results)
    lines += [f"{arm} sees the future: a causal language model under the full mask" for arm in _clairvoyant(results)]
    seeds = len(results.study["seeds"])
    few = [f"{seeds} seed{'s' * (seeds > 1)}: an exact test cannot reach p < 0.05 below {EXACT}"] * (seeds < EXACT)
    return [*lines, *few, *_tuning(results)]


def unproven(results: Results, judged: Iterable[Verdict]) -> list[str]:
    """What must not be concluded: from rows that are undecided, and from what the study compares."""
    undecided = sum(verdict.judgement is Judgement.undecided for verdict in judged)
    rows_ = "a row" if undecided == 1 else f"{undecided} rows"
    few = [f"that there is no effect, where {rows_} says undecided: it may lie anywhere in the interval"]
    return [*few * bool(undecided), *cautions(Compared.of(results.study, results.measures.index))]


def _tuning(results: Results) -> list[str]:
    """What arms chose for themselves, and where a better choice may lie beyond what was tried."""
    tuned: Mapping[str, Mapping[str, str]] = results.study.get("tuned", {})
    if not tuned:
        return ["learning rates were not tuned for each arm: an effect holds at this rate"]
    chosen = [f"{arm}: {key}={value}" for arm, levels in tuned.items() for key, value in levels.items()]
    edges = results.study["edges"]
    beyond = [f"on the edge of what was tried, so that better may lie beyond: {'; '.join(edges)}"] * bool(edges)
    tried = f"chosen for each arm on seeds of their own: {'; '.join(chosen)}; with the same for all arms: study"
    return [f"{tried} {results.study['tuning']!r}", *beyond]


def _unmeasured(results: Results) -> list[str]:
    """Endpoints that do not count in finished trials, and why."""
    finished = results.trials[results.trials.status == "finished"]
    measured = {measure: int(table.count().sum()) for measure, table in results.endpoints.items()}
    beside = int((finished.beside != 0).sum())
    alone = f"{beside} trials shared their device with others meanwhile; move them out of trials/ to run them alone"
    reasons = {measure: alone for measure in measured if beside and results.measures.repeats.get(measure) == "alone"}
    lacking = {measure: len(finished) - count for measure, count in measured.items() if count < len(finished)}
    return [f"{m}: {reasons.get(m, f'not measured in {n} finished trials')}" for m, n in lacking.items()]


def _of_other_code(results: Results) -> list[str]:
    """Trials that were finished before the code of their arm changed."""
    said = ((trial, summary(results.folder(trial["trial"]))) for trial in rows(results.trials))
    old = [t["trial"] for t, s in said if s and s["code"] != results.study["arms"][t["arm"]]["code"]]
    return [f"trials made by other code than this study was planned with: {', '.join(old)}"] if old else []


def _unmatched(results: Results) -> list[str]:
    """Arms that the budget of the study could not bring within 1 % of the baseline."""
    share = {"parameters": "more", "flops": "more_flops"}.get(results.study["budget"])
    far = [(row["arm"], row[share]) for row in costs(results) if share and abs(row[share]) > MATCHED]
    return [
        f"{arm}: no FFN width brings its {results.study['budget']} nearer than {100 * more:+.1f} %" for arm, more in far
    ]


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


def _extended(results: Results) -> list[str]:
    """Seeds that were added once the results were seen."""
    grown = "extended from {} to {} seeds after its results could be seen: p-values are too small"
    return [grown.format(before, len(results.study["seeds"])) for before in results.study.get("extended", [])[-1:]]


def _clairvoyant(results: Results) -> list[str]:
    trials = results.trials
    if not {"mask", "objective"} <= set(trials.columns):
        return []
    return list(trials.arm[(trials["mask"] == "full") & (trials["objective"] == "causal_lm")].unique())


def _absence(trial: Mapping[str, Any]) -> str:
    where = f"{trial['arm']}, seed {trial['seed']}"
    if trial["status"] == "excluded":
        return f"{where}: excluded by the study (trial {trial['trial']}, which {trial['ended']})"
    if trial["status"] == "diverged":
        step = int(trial["diverged_step"])
        return f"{where}: diverged at step {step}; it counts as diverged and in no mean (trial {trial['trial']})"
    return f"{where}: not finished, so it counts in no number here (trial {trial['trial']})"
