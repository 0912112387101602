"""Which examples of data a saved model learned from, and what its training held out of them."""

import time
from dataclasses import dataclass

import numpy as np

from gpupanel.domain.data import DataSettings, Target
from gpupanel.domain.problem import Fix, Problem, ProblemError, Severity
from gpupanel.domain.trained_on import HeldOut, TrainedOn
from gpupanel.trainer.datasets.example_digests import Digests, digests_of, found_of
from gpupanel.trainer.datasets.examples import AllExamples, Indices, read_features
from gpupanel.trainer.datasets.learned_from import content_of, place_of
from gpupanel.trainer.datasets.split import divide

_FIELD = "inference.examples"
_AUTOMATIC = Fix.of("Evaluate on what was held out", _FIELD, "automatic")
_MOST_READ = 500
_READ_S = 3.0
"""As many examples that are not in memory are read to find others among them, and as long."""
_READ_AT_ONCE = 64
_LEAST_PART = 0.05
_ALL = Fix.of("Evaluate on all examples", _FIELD, "all")
_OTHER_DATA = "Choose other data to know how good the model is."


@dataclass(frozen=True, slots=True, eq=False)
class LearnedExamples:
    """What a model knows of the data that its training was on.

    Attributes:
        rows: The examples that it learned from; ``None``: nobody knows which any more.
        held_out: Those that its training validated on, or else tested; none where all were learned
            from, or nobody knows.
        how: It held them out.
        trained: What the model's file says.
        digests: Of all examples; ``None``: nobody knows them.
    """

    rows: Indices | None
    held_out: Indices
    how: HeldOut | None
    trained: TrainedOn
    digests: Digests | None = None

    def count_in(self, chosen: Indices) -> int | None:
        """How many of these examples the model learned from; ``None``: nobody knows."""
        if self.rows is not None:
            return int(np.isin(chosen, self.rows).sum())
        if self.digests is None:
            return None
        part = found_of(self.trained.sample, self.digests[chosen])
        return min(len(chosen), round(part * self.trained.learned))

    @property
    def is_estimate(self) -> bool:
        """Whether that is so by a sample alone."""
        return self.rows is None and self.trained.learned > len(self.trained.sample)


def learned_examples(
    trained: TrainedOn | None, data: DataSettings, found: AllExamples
) -> LearnedExamples | None:
    """Know the data that a model learned from again: by its place, and by some of its examples.

    Args:
        trained: What the model's file says; ``None``: nothing.
        data: As the profile has it; a path in it is absolute, or meant from the working directory.
        found: All examples of it.

    Returns:
        ``None`` where it is other data, or nobody knows.
    """
    if trained is None or not trained.says_data:
        return None
    content = content_of(found.features, found.training_count)
    is_same = bool(content) and content == trained.content
    is_other = bool(content) and bool(trained.content) and not is_same
    is_here = trained.data == place_of(data)
    how = trained.held_out
    if is_other or not (is_same or is_here) or how is None or how.group != data.chosen_group:
        return _among_others(trained, found, is_known=is_same or is_here)
    everything = np.arange(len(found), dtype=np.int32)
    rows, held_out = everything[: found.training_count], everything[found.training_count :]
    if how.held_out_fraction:
        labels = found.labels if found.target is Target.CLASSES else None
        classes = None if labels is None else labels[: found.training_count]
        try:
            rows, held_out = divide(len(rows), how, how.seed, classes, found.groups)
        except ProblemError:  # the data has not so many examples any more
            return _among_others(trained, found, is_known=True)
    elif found.validation_count:
        held_out = held_out[: found.validation_count]
    return LearnedExamples(rows, held_out, how, trained)


def _among_others(
    trained: TrainedOn, found: AllExamples, *, is_known: bool
) -> LearnedExamples | None:
    """Examples of a training that are found among others, in whatever order.

    Args:
        trained: What the model's file says.
        found: All examples.
        is_known: They are those of the training, or in its place.
    """
    digests = _digests(found) if trained.sample else None
    learned = LearnedExamples(None, np.empty(0, np.int32), None, trained, digests)
    if digests is None:
        return learned if is_known else None
    everything = np.arange(len(found), dtype=np.int32)
    # Some that resemble those of a training are in any data.
    known = learned.count_in(everything) or 0
    return learned if known >= max(2, _LEAST_PART * len(found)) else None


def _digests(found: AllExamples) -> Digests | None:
    digests = digests_of(found.features)
    if digests is not None or len(found) > _MOST_READ:
        return digests
    parts, until_s = [], time.monotonic() + _READ_S
    for first in range(0, len(found), _READ_AT_ONCE):
        rows = np.arange(first, min(first + _READ_AT_ONCE, len(found)), dtype=np.int32)
        if time.monotonic() > until_s:
            return None
        try:
            parts.append(digests_of(read_features(found.features, rows)))
        except ProblemError:
            return None  # said of it, or left out
    known = [part for part in parts if part is not None]
    return np.concatenate(known) if known else None


def notes_of_learned(
    learned: LearnedExamples | None, chosen: Indices, *, is_part_found: bool
) -> tuple[Problem, ...]:
    """What is said of an evaluation on the data that the model learned from.

    Args:
        learned: What is known of that; ``None``: it is other data.
        chosen: The examples that are evaluated.
        is_part_found: They were found, and not chosen: those that were held out.
    """
    if learned is None:
        return ()
    if is_part_found:
        return (_held_out(len(chosen)),)
    known = learned.count_in(chosen)
    if known is None:
        return (_UNKNOWN,)
    about = "about " if learned.is_estimate and known < len(chosen) else ""
    has_held_out = len(learned.held_out) > 0
    return (_learned(known, len(chosen), about, has_held_out=has_held_out),) if known else ()


def note_of_place(trained: TrainedOn | None, data: DataSettings, which: str) -> tuple[Problem, ...]:
    """The same before the data is read: where its place alone is known.

    Of a model whose file says nothing of its data that is said.

    Args:
        trained: What the model's file says; ``None``: nothing.
        data: As the profile has it.
        which: The choice of the profile.
    """
    if which not in ("automatic", "all"):
        return ()
    if trained is None or not trained.says_data:
        return (LEARNED_FROM_UNKNOWN,)
    return (_OF_PLACE,) if trained.data == place_of(data) else ()


def _held_out(count: int) -> Problem:
    examples = "example is" if count == 1 else "examples are"
    return Problem(
        code="evaluates_what_was_held_out",
        severity=Severity.HINT,
        field=_FIELD,
        message=f"The model learned from this data: the {count:,} {examples} evaluated that its "
        "training held out, and no others.",
        hint='Set inference.examples to "all" to count those that it learned from, too.',
        fix=_ALL,
    )


def _learned(known: int, count: int, about: str, *, has_held_out: bool) -> Problem:
    if known == count:
        what = f"all {count:,} examples that are evaluated"
    else:
        what = f"{about}{known:,} of the {count:,} examples that are evaluated"
    way = "Evaluate on the examples that training held out; or choose other data."
    return Problem(
        code="evaluates_what_was_learned",
        severity=Severity.WARNING,
        field=_FIELD,
        message=f"The model learned from {what}: its metrics are better than those of new "
        "examples.",
        hint=way if has_held_out else _OTHER_DATA,
        fix=_AUTOMATIC if has_held_out else None,
    )


_UNKNOWN = Problem(
    code="evaluates_what_was_learned",
    severity=Severity.WARNING,
    field=_FIELD,
    message="The model learned from data in this place, which is not as it was any more, or read "
    "otherwise: which of the examples it learned from is not known, and its metrics may be better "
    "than those of new examples.",
    hint=_OTHER_DATA,
)
LEARNED_FROM_UNKNOWN = Problem(
    code="learned_from_unknown",
    severity=Severity.HINT,
    field=_FIELD,
    message="The model's file does not say what it learned from: every example is evaluated, and "
    "where it learned from some of them, its metrics are better than those of new examples.",
    hint="Choose data that it did not learn from. A model that gpupanel trained says it; one that "
    "was trained elsewhere, or by an exported script, does not.",
)
"""What is said where nobody knows whether the model learned from the data."""
_OF_PLACE = Problem(
    code="evaluates_what_was_learned",
    severity=Severity.HINT,
    field=_FIELD,
    message="The model learned from this data. How much of what is evaluated it knows is said when "
    "the run has read it.",
    hint='With inference.examples = "automatic" only what its training held out is evaluated, '
    "where it held something out.",
)
