"""What a study's page shows, as plain tables."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from analysis.frame import rows
from analysis.results import Results, summary
from analysis.settings import settings

COSTS = ["tokens", "cpu_seconds", "peak_memory_mb"]
MATCHED = 0.01  # what a budget calls equal
EXACT = 6  # pairs from which a sign-flip test can reach p < 0.05: 2 / 2⁶


def absolute(results: Results) -> list[dict[str, Any]]:
    """Mean, standard deviation over seeds and n of each arm on each endpoint."""
    columns = {(measure, arm): table[arm] for measure, table in results.endpoints.items() for arm in results.arms}
    return [
        {"arm": arm, "endpoint": measure, "mean": values.mean(), "deviation": values.std(), "n": int(values.count())}
        for (measure, arm), values in columns.items()
    ]


def costs(results: Results) -> list[dict[str, Any]]:
    """Each arm's size against the baseline's, and what its trials took in the mean."""
    trials = dict(list(results.trials.groupby("arm")))
    arms = results.study["arms"]
    base = arms[results.arms[0]]
    return [
        {"arm": arm, "parameters": said["parameters"], "more": said["parameters"] / base["parameters"] - 1}
        | {"flops": said["flops"], "more_flops": said["flops"] / base["flops"] - 1}
        | {column: trials[arm][column].mean() for column in COSTS}
        | {"status": trials[arm].status.value_counts().to_dict()}
        for arm, said in arms.items()
    ]


def differences(results: Results) -> dict[str, list[Any]]:
    """Settings that are not the same in all arms: a row a setting, a value an arm, None where it has none."""
    first = results.trials.drop_duplicates("arm").set_index("arm").loc[results.arms]
    found = {setting: [_value(value) for value in first[setting]] for setting in results.settings}
    return {setting: values for setting, values in found.items() if len({str(value) for value in values}) > 1}


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


def provenance(results: Results) -> dict[str, str]:
    """What the trials ran on and with; every value that was found where they differ."""
    found = [summary(results.folder(trial)) for trial in results.trials.trial.drop_duplicates()]
    flat = [
        settings({**s["versions"], "data": s["data"]["content"], "code": s["code"], "git": s["git"]})
        for s in found
        if s
    ]
    return {key: " / ".join(sorted({str(each[key]) for each in flat})) for key in (flat[0] if flat else {})}


def _unmeasured(results: Results) -> list[str]:
    """Endpoints that finished trials did not measure: another study trained them, without the diagnostic."""
    finished = int((results.trials.status == "finished").sum())
    measured = {measure: int(table.count().sum()) for measure, table in results.endpoints.items()}
    return [f"{m}: not measured in {finished - n} finished trials" for m, n in measured.items() if n < finished]


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
    lines = [
        f"{arm}: {n:,.0f} tokens a trial, the baseline {base:,.0f}" for arm, n in tokens.items() if base and n != base
    ]
    contents = {str(s["data"]["content"]) for trial in finished.trial if (s := summary(results.folder(trial)))}
    swept = any(factor.split(".")[0] == "data" for factor in results.study["factors"])
    return [
        *lines,
        *(
            ["trials of this study read different data: its differences may be theirs"]
            if len(contents) > 1 and not swept
            else []
        ),
    ]


def _extended(results: Results) -> list[str]:
    """Seeds that were added once the results were seen."""
    before = results.study.get("extended", [])
    seeds = len(results.study["seeds"])
    return [
        f"extended from {n} to {seeds} seeds after its results could be seen: p-values are too small"
        for n in before[-1:]
    ]


def exclusions(results: Results) -> list[dict[str, Any]]:
    """Each effect without and with the trials that the study excludes."""
    if not results.study.get("exclude"):
        return []
    without, whole = results.effects(), results.whole().effects()
    return [{**row, "whole": other} for row, other in zip(rows(without), rows(whole), strict=True)]


def _of_other_code(results: Results) -> list[str]:
    """Trials that were finished before the code of their arm changed."""
    said = ((trial, summary(results.folder(trial["trial"]))) for trial in rows(results.trials))
    old = [t["trial"] for t, s in said if s and s["code"] != results.study["arms"][t["arm"]]["code"]]
    return [f"trials made by other code than this study was planned with: {', '.join(old)}"] if old else []


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


def _value(value: Any) -> Any:
    return None if pd.api.types.is_scalar(value) and pd.isna(value) else value
