"""Lines for a person about a study that is about to run."""

from rich.console import Console

from experiments.design import aliases
from experiments.study.plan import Plan


def echo(text: str) -> None:
    """Lines for a person, as they are; no line if there is nothing to say."""
    if text:
        Console(highlight=False, soft_wrap=True, markup=False).print(text)


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
    """Arms whose models were found to read what they should not."""
    allowed = made.study.get("allow_seeing_future")
    outcome = "compared all the same" if allowed else "it is in no comparison (study.allow_seeing_future=true)"
    future = [label for label, arm in made.arms.items() if arm.sees_future]
    across = [label for label, arm in made.arms.items() if arm.reads_across_batch]
    untried = [f"{label} was not tried: {arm.untried}" for label, arm in made.arms.items() if arm.untried]
    return [
        *(
            f"{label} sees the future: a later token changes what it says of an earlier one; {outcome}"
            for label in future
        ),
        *(f"{label} reads across a batch: another sequence changes what it says of this one" for label in across),
        *untried,
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
