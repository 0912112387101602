"""What labels may be instead of what they are taken for, and classes without examples."""

from collections.abc import Iterator, Sequence

import numpy as np

from gpupanel.domain.data import DataSettings, Target
from gpupanel.domain.problem import Fix, Problem, Severity
from gpupanel.domain.visible_text import visible_beginning
from gpupanel.domain.written_tags import are_combined, tag_separator, tags_in
from gpupanel.trainer.datasets.examples import Array, DataSet

_MOST_CLASSES = 20
"""Whole numbers of more different values are taken for amounts."""
_MOST_NAMED = 5
_FEWEST_EXAMPLES = 8
"""The fewest examples that are checked."""


def label_doubts(data_set: DataSet, data: DataSettings) -> Iterator[Problem]:
    """What is odd about the labels of examples that are trained on.

    Args:
        data_set: Theirs.
        data: As it was chosen.
    """
    labels = data_set.training.labels
    if data_set.target is Target.VALUES:
        if data.target_kind is None:
            yield from _values(labels)
    else:
        field = "data.labels" if hasattr(data, "labels") else "data.path"
        yield from _by_count(data_set, field)
        if data.makes_features and data.target_kind is None:
            yield from _combined(data_set.class_names)


def _combined(names: Sequence[str]) -> Iterator[Problem]:
    """Classes of a table that may be several labels each: ``a|b``, ``a;b``, ``a,b``, ``['a']``."""
    # Names of several words share some of them, too.
    if tag_separator(names) in ("", " ") or not are_combined(names):
        return
    separator = tag_separator(names)
    example = next(name for name in names if len(tags_in(name, separator)) > 1)
    yield Problem(
        code="data_labels_seem_several",
        severity=Severity.WARNING,
        field="data.predicts",
        message=f'Classes such as "{visible_beginning(example)}" seem to be several labels each, '
        "and each combination is a class of its own.",
        hint="Make a column of 0 and 1 for each label, and predict these; or keep the "
        "combinations as classes.",
        fix=Fix.of("Keep them as classes", "data.predicts", "classes"),
    )


def _values(labels: Array) -> Iterator[Problem]:
    different = np.unique(labels[:1_000_000]) if labels.ndim == 1 else np.unique(labels.sum(axis=1))
    if labels.ndim == 1 and _are_like_classes(labels, different):
        shown = ", ".join(f"{value:g}" for value in different[:_MOST_NAMED])
        more = " and others" if len(different) > _MOST_NAMED else ""
        first = different[0]
        count_up = first in (0.0, 1.0) and np.array_equal(
            different, first + np.arange(len(different))
        )
        yield _doubt(
            Severity.WARNING if count_up else Severity.HINT,
            f"The values that are predicted are {len(different):,} different whole numbers only: "
            f"{shown}{more}. They may be classes.",
            "Predict classes, or keep the values.",
            "classes",
        )
    elif labels.ndim == 2 and labels.min() >= 0 and np.allclose(different, 1.0, atol=1e-3):
        yield _doubt(
            Severity.WARNING,
            f"The {labels.shape[1]:,} values of each example are together 1: they may be the "
            "probabilities of classes, and are predicted as values.",
            "Save the class of each example, or keep the values.",
        )


def _are_like_classes(labels: Array, different: Array) -> bool:
    """Whether they are few whole numbers that come back."""
    are_few = 2 <= len(different) <= min(_MOST_CLASSES, len(labels) // 2)
    return are_few and np.array_equal(different, np.round(different))


def _doubt(severity: Severity, message: str, hint: str, instead: str = "") -> Problem:
    kept = Fix.of("Predict values", "data.predicts", "values")
    others = [Fix.of("Predict classes", "data.predicts", instead)] if instead else []
    fix, *alternatives = *others, kept
    return Problem(
        code="data_values_seem_classes",
        severity=severity,
        field="data.predicts",
        message=message,
        hint=hint,
        fix=fix,
        alternatives=tuple(alternatives),
    )


def _by_count(data_set: DataSet, field: str) -> Iterator[Problem]:
    """Classes, or labels, that no example has; and classes that hardly ever come back."""
    names, labels = data_set.class_names, data_set.training.labels
    if data_set.target is Target.LABELS:
        counts = np.count_nonzero(labels, axis=0)
    else:
        counts = np.bincount(labels.astype(np.int64), minlength=len(names))
        yield from _of_one_example(names, counts, field)
    empty = [name for name, count in zip(names, counts, strict=True) if not count]
    if not empty:
        return
    shown = ", ".join(f'"{visible_beginning(name)}"' for name in empty[:_MOST_NAMED])
    more = " and others" if len(empty) > _MOST_NAMED else ""
    what = "labels" if data_set.target is Target.LABELS else "classes"
    is_much = 2 * len(empty) > len(names)
    has = "has" if len(empty) == 1 else "have"
    yield Problem(
        code="data_classes_without_examples",
        severity=Severity.WARNING if is_much else Severity.HINT,
        field=field,
        message=f"{len(empty):,} of the {len(names):,} {what} {has} no example that is trained on: "
        f"{shown}{more}.",
        hint="A model has an output for each. Nothing, if that is meant; else number them from 0 "
        "without gaps.",
    )


def _of_one_example(names: Sequence[str], counts: Array, field: str) -> Iterator[Problem]:
    """Classes of which most have one example: names of these, dates or amounts, perhaps."""
    alone, examples = np.flatnonzero(counts == 1), int(counts.sum())
    if examples < _FEWEST_EXAMPLES or 2 * len(alone) <= examples:
        return
    shown = ", ".join(
        f'"{visible_beginning(names[place])}"' for place in alone[:_MOST_NAMED].tolist()
    )
    yield Problem(
        code="data_classes_of_one_example",
        severity=Severity.WARNING,
        field=field,
        message=f"{len(alone):,} of the {np.count_nonzero(counts):,} classes have one example "
        f"only, such as {shown}. Nothing that is learned of these can be validated.",
        hint="Check that these are classes, and not names, dates or amounts; choose another column "
        "if not.",
    )
