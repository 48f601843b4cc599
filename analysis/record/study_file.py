"""A study as it was run: `study.yaml`."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from analysis.record.files import DamagedFile, reading
from analysis.record.layout import STUDIES, STUDY
from analysis.record.plain import FORMAT, JsonValue, Settings, read_yaml, refuse_other_format, yaml_text
from analysis.record.words import unknown_word


@dataclass(frozen=True)
class ArmRecord:
    """An arm: its level of each factor, its size, the training FLOPs per token, its code's digest, all its settings.

    `measure_code` has the digest of the code of each endpoint's measure. `sees_future`: a later token changes the
    logits at an earlier position, although the objective asks for later tokens; `reads_across_batch`: another sequence
    of a batch changes the logits of one; `untried` is the reason why neither could be tried, empty if both were.
    """

    levels: Mapping[str, str]
    parameters: int
    flops: float
    code: str
    settings: Settings
    measure_code: Mapping[str, str] = field(default_factory=dict)
    sees_future: bool = False
    reads_across_batch: bool = False
    untried: str = ""


@dataclass(frozen=True)
class TrialRecord:
    """A trial of a study: one arm under one seed."""

    id: str
    arm: str
    seed: int


@dataclass(frozen=True)
class StudyRecord:
    """A study: its question, what it declares before its results, its arms (the baseline first) and trials.

    `endpoints` maps measures to reductions, `expect` arms to endpoints to directions, `margin` endpoints to the
    largest difference that counts as none. `impossible` maps combinations that cannot be built to the reason,
    `exclude` trials to the reason. `extended` holds the earlier numbers of seeds, and `changed` the declarations that
    changed, after results could be seen. If arms chose settings, `tuned` holds their choices, `tuning` names the
    study in which they chose, and `edges` the choices at the end of what was tried. `allow_seeing_future` compares
    arms that see the future with all others.
    """

    name: str
    question: str
    source: str
    endpoints: Mapping[str, str]
    expect: Mapping[str, Mapping[str, str]]
    margin: Mapping[str, float]
    seeds: Sequence[int]
    factors: Sequence[str]
    command: str
    report: str
    budget: str
    arms: Mapping[str, ArmRecord]
    trials: Sequence[TrialRecord]
    design: JsonValue = "one_factor"
    tune: Settings = field(default_factory=dict)
    exclude: Mapping[str, str] = field(default_factory=dict)
    impossible: Mapping[str, str] = field(default_factory=dict)
    aliases: Sequence[str] = ()
    sources: Mapping[str, str] = field(default_factory=dict)
    extended: Sequence[int] = ()
    changed: Sequence[str] = ()
    tuned: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    tuning: str | None = None
    edges: Sequence[str] = ()
    allow_seeing_future: bool = False

    @property
    def baseline(self) -> ArmRecord:
        """The first arm."""
        return next(iter(self.arms.values()))


def study_record(content: Mapping[str, Any]) -> StudyRecord:
    """A study out of plain values by the names of its fields. Raises TypeError for a name that is missing."""
    names = {column.name for column in fields(StudyRecord)}
    values = {key: value for key, value in content.items() if key in names}
    values["arms"] = {label: ArmRecord(**arm) for label, arm in content["arms"].items()}
    values["trials"] = [TrialRecord(**trial) for trial in content["trials"]]
    values["exclude"] = {str(trial): reason for trial, reason in content.get("exclude", {}).items()}
    return StudyRecord(**values)


def study_text(study: StudyRecord) -> str:
    """The content of `study.yaml`."""
    values = {key: list(value) if isinstance(value, tuple) else value for key, value in asdict(study).items()}
    return yaml_text({"format": FORMAT} | values)


def read_study(home: Path) -> StudyRecord:
    """The study in a folder `results/studies/<name>`. Raises ValueError for a study of another format, DamagedFile."""
    content = read_yaml(home / STUDY)
    refuse_other_format(home / STUDY, content)
    with reading(home / STUDY):
        return study_record(content)


def study_names(results: str | Path) -> list[str]:
    """The folders of all studies. Raises FileNotFoundError if there is none."""
    names = sorted(path.parent.name for path in Path(results, STUDIES).glob(f"*/{STUDY}"))
    if not Path(results).exists():
        raise FileNotFoundError(f"there is no folder {Path(results).absolute()}; name another: --results FOLDER")
    if not names:
        raise FileNotFoundError(f"{Path(results).absolute()} holds no study; name another folder: --results FOLDER")
    return names


def find_study(results: str | Path, study: str) -> Path:
    """The folder of a study, by its own name or by that of its folder; damaged studies are found by the latter.

    Raises FileNotFoundError if there is none of that name, naming those there are.
    """
    homes = {name: Path(results, STUDIES, name) for name in study_names(results)}
    if study in homes:
        return homes[study]
    for home in homes.values():
        with suppress(DamagedFile):
            if read_study(home).name == study:
                return home
    raise FileNotFoundError(f"{results}: {unknown_word('study', study, homes)}")
