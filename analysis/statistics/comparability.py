"""Which numbers can be compared: those that are about the same thing, of arms that do not read their answers."""

from collections.abc import Iterable, Mapping

from analysis.tables.results import Results

FACETS = {  # of a trial's meaning, in words; what the two arms have follows
    "vocabulary": "per token of another vocabulary",
    "data": "on other data",
    "validation": "over other validation sequences",
    "context": "in sequences of another length",
    "objective": "under another objective",
    "text": "over another part of a text",
}

BITS_PER_BYTE = "val/bits_per_byte"


def incomparable_reason(results: Results, arm: str, measure: str) -> str:
    """Why this arm has no difference to the baseline on a measure, in words; empty where it has one."""
    barred = [] if results.study.allow_seeing_future else arms_seeing_future(results)
    ahead = [label for label in (results.arms[0], arm) if label in barred]
    if ahead:
        allowed = "study.allow_seeing_future=true compares it all the same"
        return f"{' and '.join(ahead)} can read its answers among later tokens ({allowed})"
    return differing_facets(results, arm, measure)


def differing_facets(results: Results, arm: str, measure: str) -> str:
    """In what the measure means another thing in this arm than in the baseline; empty where it means the same."""
    base, own = (results.meanings.get(label, {}) for label in (results.arms[0], arm))
    apart = facets_apart(results.about(measure), base, own)
    if not apart:
        return ""
    alike = base.get("text") == own.get("text") is not None and base["objective"] == own["objective"]
    spelled = alike and measure != BITS_PER_BYTE and BITS_PER_BYTE in results.measures.index
    hint = f"; {BITS_PER_BYTE} can be compared" if spelled and "vocabulary" in apart else ""
    return f"measured {', '.join(apart.values())} than under {results.arms[0]}{hint}"


def facets_apart(about: Iterable[str], first: Mapping[str, str], second: Mapping[str, str]) -> dict[str, str]:
    """Those facets of two meanings that a measure depends on and that differ, in words.

    >>> facets_apart(["context", "objective"], {"context": "64"}, {"context": "128", "objective": "causal_lm"})
    {'context': 'in sequences of another length'}
    """
    both = (facet for facet in about if facet in first and facet in second)
    return {facet: FACETS.get(facet, f"with another {facet}") for facet in both if first[facet] != second[facet]}


def arms_seeing_future(results: Results) -> list[str]:
    """Arms in whose models a later token changed an earlier position's logits, though their objective asks for it."""
    return [label for label, arm in results.study.arms.items() if arm.sees_future]


def comparable_arms(results: Results, measure: str) -> list[str]:
    """The baseline, and the arms that can be compared with it on a measure."""
    return [results.arms[0], *(arm for arm in results.arms[1:] if not incomparable_reason(results, arm, measure))]
