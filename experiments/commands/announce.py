"""Lines for a person about a study that is about to run."""

from experiments.design import aliases
from experiments.study.plan import Plan


def plan_summary(made: Plan, missing: int) -> str:
    """The size of a sweep, before it starts."""
    trials = len({trial.id for trial in made.trials})
    size = f"{count_of(len(made.arms), 'arm')} × {count_of(len(made.seeds), 'seed')} = {count_of(trials, 'trial')}"
    lines = [f"study {made.name}: {size}, {trials - missing} finished, {missing} to train"]
    lines += [f"left out, as it cannot be built: {label}: {reason}" for label, reason in made.impossible.items()]
    lines += [f"this design cannot tell apart: {effects}" for effects in aliases(list(made.levels.values()))]
    lines += _answers_in_sight(made)
    alike = "trains the same trials as {}: nothing in its model reads what sets them apart"
    return "\n".join([*lines, *(f"{label} {alike.format(other)}" for label, other in arms_sharing_trials(made))])


def _answers_in_sight(made: Plan) -> list[str]:
    """Arms whose models read what they should not."""
    allowed = made.study.get("allow_seeing_future")
    outcome = "it is compared all the same" if allowed else "it has no effect (unless study.allow_seeing_future=true)"
    future = f"{{}} sees the future: a later token changes the logits at an earlier position; {outcome}"
    batch = "{} reads across a batch: another sequence changes the logits of this one"
    untried = "whether {} sees the future is unknown, as its model could not be tried: {}"
    return [
        *(future.format(label) for label, arm in made.arms.items() if arm.sees_future),
        *(batch.format(label) for label, arm in made.arms.items() if arm.reads_across_batch),
        *(untried.format(label, arm.untried) for label, arm in made.arms.items() if arm.untried),
    ]


def arms_sharing_trials(made: Plan) -> list[tuple[str, str]]:
    """Arms whose trials are those of an earlier arm."""
    first: dict[str, str] = {}
    ids = {label: arm.trial(made.seeds[0])[0] for label, arm in made.arms.items()}
    return [(label, first[id]) for label, id in ids.items() if first.setdefault(id, label) != label]


def count_of(number: int, word: str) -> str:
    """A number with its noun in the singular or the plural.

    >>> count_of(1, "arm"), count_of(2, "arm")
    ('1 arm', '2 arms')
    """
    return f"{number} {word}" if number == 1 else f"{number} {word}s"
