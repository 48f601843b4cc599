"""The limits of a page's numbers: data that they do not include, and conclusions that they do not support."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from analysis.findings.cautions import cautions
from analysis.findings.coverage import StudyCoverage
from analysis.findings.judgement import ALPHA, Judgement
from analysis.findings.verdict import Verdict
from analysis.record.history import declared_measures
from analysis.record.summary import trial_damage
from analysis.statistics.comparability import arms_seeing_future, differing_facets, incomparable_reason
from analysis.statistics.effects import paired_effects
from analysis.statistics.power import pairs_for_exact
from analysis.statistics.summary import arm_costs
from analysis.tables.columns import Effect, as_rows
from analysis.tables.results import Results

MATCHED_WITHIN = 0.01  # the relative difference up to which a budget counts as equal


REMEASURE_HINT = "if another study trained them without this measure, runtime.unmeasured=again measures it"


def missing_data(results: Results) -> list[str]:
    """Every trial that is not finished, by name, then the disclosures."""
    absent, excluded = results.trials[results.trials.status != "finished"], results.study.exclude
    notes = (_absence_note(t, excluded, trial_damage(results.trial_folder(str(t["trial"])))) for t in as_rows(absent))
    return [*notes, *disclosures(results)]


def disclosures(results: Results) -> list[str]:
    """Facts about the study that limit its numbers, besides the trials that are missing."""
    study = results.study
    return [
        *(f"{arm} is left out, as it cannot be built: {reason}" for arm, reason in study.impossible.items()),
        *(f"This design cannot tell apart: {effects}" for effects in study.aliases),
        *_unmeasured_endpoints(results),
        *_trials_of_other_code(results),
        *_measures_of_other_code(results),
        *_unmatched_sizes(results),
        *_unequal_tokens(results),
        *_different_data(results),
        *_changes_after_results(results),
        *_answers_in_sight(results),
        *_incomparable_endpoints(results),
        *_exact_test_note(results),
        *_tuning_notes(results),
    ]


def _exact_test_note(results: Results) -> list[str]:
    """Whether exact tests, which endpoints of 0 and 1 rest on, can decide anything with so many seeds."""
    pairs = [(arm, measure) for measure in results.endpoints for arm in results.arms[1:]]
    comparisons = sum(not incomparable_reason(results, arm, measure) for arm, measure in pairs)
    seeds, fewest = len(results.study.seeds), pairs_for_exact(ALPHA / max(1, comparisons))
    if not comparisons or seeds >= fewest:
        return []
    return [
        f"With {comparisons} comparisons an exact test needs at least {fewest} seeds to reach a corrected p < {ALPHA}"
    ]


def not_shown(results: Results, judged: Iterable[Verdict]) -> list[str]:
    """Conclusions that the study does not support: from undecided comparisons, and from its coverage."""
    undecided = sum(v.judgement is Judgement.undecided and v.effect.pairs > 1 for v in judged)
    study, sentences = results.study, []
    if undecided:
        sentences.append(
            f"It does not show that there is no effect where the verdict is undecided ({undecided} of the "
            "comparisons): the effect may be as large as either end of its interval."
        )
    coverage = StudyCoverage.of(study.arms, study.tune, study.endpoints, list(results.measures.index))
    return [*sentences, *cautions(coverage)]


def _tuning_notes(results: Results) -> list[str]:
    """The settings that arms chose for themselves, and where a better choice may lie beyond the values tried."""
    study = results.study
    if not study.tuned:
        return []
    choices = [f"{arm}: {key}={value}" for arm, levels in study.tuned.items() for key, value in levels.items()]
    notes = [
        f"Each arm chose its settings on other seeds ({'; '.join(choices)}); the study {study.tuning!r} compares the "
        "same settings in all arms"
    ]
    if study.edges:
        notes.append(
            f"Better choices may lie beyond the values tried, as these are at their edge: {'; '.join(study.edges)}"
        )
    return notes


def _unmeasured_endpoints(results: Results) -> list[str]:
    """Endpoints without a number in finished trials, and why."""
    finished, notes = results.finished, []
    sharing = _device_sharing(results)
    for measure, table in results.endpoints.items():
        without = len(finished) - int(table.count().sum())
        if without <= 0:
            continue
        if sharing and results.measures.repeats.get(measure) == "alone":
            notes.append(f"{measure}: {sharing}; move these out of trials/ and run them again with runtime.slots=1")
        else:
            notes.append(f"{measure}: {without} finished trials have no finite number; {REMEASURE_HINT}")
    return notes


def _device_sharing(results: Results) -> str:
    """How many finished trials shared their device, or may have."""
    others = results.finished.others_on_device
    shared, unknown, parts = int((others > 0).sum()), int(others.isna().sum()), []
    if shared:
        parts.append(f"{shared} trials shared their device with others")
    if unknown:
        parts.append(f"of {unknown} trials it is unknown whether they did")
    return " and ".join(parts)


def _trials_of_other_code(results: Results) -> list[str]:
    """Trials that finished before the code of their arm changed."""
    arms, summaries = results.study.arms, results.summaries
    old = [
        trial
        for trial, arm in zip(results.trials.trial, results.trials.arm, strict=True)
        if trial in summaries and summaries[trial].code != arms[arm].code
    ]
    return [f"These trials ran other code than the study was planned with: {', '.join(old)}"] if old else []


def _measures_of_other_code(results: Results) -> list[str]:
    """Endpoints that trials measured before the code of these measures changed, and no other code of the trials did."""
    trials_of: dict[str, list[str]] = {}
    for trial, arm in zip(results.trials.trial, results.trials.arm, strict=True):
        planned, summary = results.study.arms[arm], results.summaries.get(trial)
        if not planned.measure_code or summary is None or summary.code != planned.code:
            continue
        declared = declared_measures(results.trial_folder(trial))
        for name in planned.measure_code.keys() & declared:
            if declared[name].get("code") != planned.measure_code[name]:
                trials_of.setdefault(name, []).append(trial)
    end = "was measured by other code than this study was planned with, in the trials"
    return [f"{name} {end} {', '.join(trials)}" for name, trials in sorted(trials_of.items())]


def _unmatched_sizes(results: Results) -> list[str]:
    """Arms whose size is not within 1 % of the baseline's, and whether the study asked for that."""
    budget = results.study.budget
    shares = {cost.arm: cost.more_flops if budget == "flops" else cost.more_parameters for cost in arm_costs(results)}
    unmatched = [f"{arm} {100 * share:+.1f} %" for arm, share in shares.items() if abs(share) > MATCHED_WITHIN]
    if not unmatched:
        return []
    if budget == "none":
        remedy = "budget=parameters matches them where FFN widths allow it"
        return [f"Parameters are not matched to the baseline's ({remedy}): {'; '.join(unmatched)}"]
    return [f"No FFN width brings the {budget} of these arms nearer to the baseline's: {'; '.join(unmatched)}"]


def _unequal_tokens(results: Results) -> list[str]:
    """Arms whose trials read another number of tokens than the baseline's."""
    tokens = results.finished.groupby("arm").tokens.median()
    base = tokens.get(results.arms[0])
    if not base:
        return []
    others = tokens[tokens != base]
    return [f"{arm} reads {n:,.0f} tokens per trial, the baseline {base:,.0f}" for arm, n in others.items()]


def _different_data(results: Results) -> list[str]:
    """Whether trials read different data although no factor is about data."""
    contents = {results.summaries[trial].data.content for trial in results.finished.trial if trial in results.summaries}
    varied = any(factor.split(".")[0] == "data" for factor in results.study.factors)
    if len(contents) < 2 or varied:
        return []
    return ["Trials of this study read different data, which may cause its differences"]


def _changes_after_results(results: Results) -> list[str]:
    """Changes to the study that were made when its results could already be seen."""
    study, notes = results.study, []
    if study.extended:
        notes.append(
            f"The study was extended from {study.extended[-1]} to {len(study.seeds)} seeds after its results could be "
            "seen, so its p-values are too small"
        )
    if study.changed:
        notes.append(f"These declarations changed after the results could be seen: {', '.join(study.changed)}")
    return notes


def _answers_in_sight(results: Results) -> list[str]:
    """Arms whose models read what they should not, which was found by a change of their input before training."""
    study = results.study
    outcome = "which this study allows" if study.allow_seeing_future else "so no effect of it is computed"
    future = "{} sees the future: a later token changes the logits at an earlier position, {}"
    batch = "{} reads across a batch: another sequence of the batch changes the logits of this one"
    untried = "Whether {} sees the future is unknown, as its model could not be tried: {}"
    return [
        *(future.format(arm, outcome) for arm in arms_seeing_future(results)),
        *(batch.format(label) for label, arm in study.arms.items() if arm.reads_across_batch),
        *(untried.format(label, arm.untried) for label, arm in study.arms.items() if arm.untried),
    ]


def _incomparable_endpoints(results: Results) -> list[str]:
    """Endpoints that measure something else in an arm than in the baseline, with the reason."""
    pairs = [(measure, arm) for measure in results.endpoints for arm in results.arms[1:]]
    reasons = {(measure, arm): differing_facets(results, arm, measure) for measure, arm in pairs}
    return [f"{measure} under {arm} is not compared: {why}" for (measure, arm), why in reasons.items() if why]


def _absence_note(trial: Mapping[str, object], excluded: Mapping[str, str], damage: str) -> str:
    name, id = f"{trial['arm']}, seed {trial['seed']}", str(trial["trial"])
    if trial["status"] == "excluded":
        reasons = [reason for prefix, reason in excluded.items() if id.startswith(prefix)]
        return f"{name}: excluded: {'; '.join(reasons)} (trial {id}, which {trial['ended']})"
    if trial["status"] == "diverged":
        return (
            f"{name}: diverged at step {trial['diverged_step']:.0f}; it counts as diverged and in no mean (trial {id})"
        )
    if damage:
        return f"{name}: its record is damaged, so it counts in no number here (trial {id}: {damage})"
    return f"{name}: not finished, so it counts in no number here (trial {id})"


@dataclass(frozen=True)
class ExclusionEffect:
    """An effect without and with the trials that the study excludes."""

    without: Effect
    included: Effect


def effects_with_excluded(results: Results) -> list[ExclusionEffect]:
    """Each effect without and with the excluded trials; none if the study excludes nothing."""
    if not results.study.exclude:
        return []
    pairs = zip(paired_effects(results), paired_effects(results.with_excluded()), strict=True)
    return [ExclusionEffect(without, included) for without, included in pairs]
