"""Which of several arrays are the examples and the labels, found by what people call them.

``x`` and ``y``, ``x_train``, ``y_train``, ``x_test`` and ``y_test``, ``images`` and ``labels``,
``train_images`` and ``train_labels``, ``arr_0`` and ``arr_1``.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum, auto

_FEATURES = frozenset(
    f"{word}{ending}"
    for word in ("x", "feature", "image", "img", "picture", "pixel", "input", "sample", "example")
    for ending in ("", "s")
) | {"data"}
_LABELS = frozenset(
    ["y", "ys", "label", "labels", "target", "targets", "output", "outputs", "class", "classes"]
) | {"value", "values"}
_TRAINING = frozenset(["train", "training", "tr"])
_TEST = frozenset(["test", "testing", "te"])
_VALIDATION = frozenset(["val", "valid", "validation", "dev"])
_PARTS = _TRAINING | _TEST | _VALIDATION
_GLUED = re.compile(r"(?P<role>[a-z]+?)(?P<part>train|test|val)|(train|test|val)([a-z]+)")
_SAVEZ = {"arr_0": "x", "arr_1": "y"}
"""What :func:`numpy.savez` calls arrays that were given no names."""


class _Part(Enum):
    WHOLE = auto()
    TRAINING = auto()
    TEST = auto()
    VALIDATION = auto()


class _Role(Enum):
    FEATURES = auto()
    LABELS = auto()
    UNKNOWN = auto()


@dataclass(frozen=True, slots=True)
class _Name:
    """An array's name, taken apart.

    Attributes:
        whole: As it stands in the file.
        part: Of the data.
        role: What it holds, by its words.
        rest: What remains of it.
    """

    whole: str
    part: _Part
    role: _Role
    rest: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ArrayLayout:
    """Names of arrays; empty where there is none of that kind."""

    features: str
    labels: str = ""
    test_features: str = ""
    test_labels: str = ""


class AmbiguousArraysError(Exception):
    """The names do not show which array it is.

    Attributes:
        wanted: What was looked for: ``features`` or ``labels``.
    """

    def __init__(self, wanted: str) -> None:
        super().__init__(wanted)
        self.wanted = wanted


def find_layout(
    shapes: Mapping[str, tuple[int, ...]],
    features: str | None,
    labels: str | None,
    test: tuple[str | None, str | None] = (None, None),
    *,
    needs_labels: bool = True,
) -> ArrayLayout:
    """Which arrays are examples and labels.

    Args:
        shapes: Of the arrays that there are, by name.
        features: The name of the examples where it was chosen.
        labels: Likewise.
        test: Of examples and labels of a test set, likewise.
        needs_labels: Without it there may be none.

    Raises:
        AmbiguousArraysError: The names do not show it.
    """
    names = _names(shapes)
    chosen = features or _found_features(names, shapes, labels)
    beside = next((each for each in names if each.whole == chosen), None)
    if beside is None:
        beside = _name(chosen)
    others = [each for each in names if each.whole != chosen]
    label = labels or _found_labels(others, beside, shapes)
    if not label and needs_labels:
        raise AmbiguousArraysError("labels")
    found = _found_test_set(others, beside, _name(label) if label else None)
    test_features, test_labels = (one or other for one, other in zip(test, found, strict=True))
    if not test_features or (label and not test_labels):
        return ArrayLayout(chosen, label)
    return ArrayLayout(chosen, label, test_features, test_labels)


def _found_test_set(others: list[_Name], features: _Name, labels: _Name | None) -> tuple[str, str]:
    """The names of a test set's examples and labels; empty where there is none."""
    of_training = (_Part.WHOLE, _Part.TRAINING)
    if features.part not in of_training or (labels and labels.part not in of_training):
        return "", ""
    test = [each for each in others if each.part is _Part.TEST]
    found = [each.whole for each in test if _is_counterpart(each, features)]
    of_labels = [each.whole for each in test if labels and _is_counterpart(each, labels)]
    return found[0] if len(found) == 1 else "", of_labels[0] if len(of_labels) == 1 else ""


def _is_counterpart(test: _Name, training: _Name) -> bool:
    """Whether it is of the test set what the other one is of the training set."""
    return (test.role, test.rest) == (training.role, training.rest)


def _found_features(
    names: list[_Name], shapes: Mapping[str, tuple[int, ...]], labels: str | None
) -> str:
    trained = [
        each
        for each in names
        if each.part in (_Part.WHOLE, _Part.TRAINING) and each.whole != labels
    ]
    found = [each.whole for each in trained if each.role is _Role.FEATURES]
    if len(found) == 1:
        return found[0]
    if not found:
        # No usual name: of two that count the same, examples have more axes than labels.
        trained.sort(key=lambda each: len(shapes[each.whole]), reverse=True)
        match [each.whole for each in trained]:
            case [only]:
                return only
            case [most, least] if _count_the_same(shapes, most, least):
                if len(shapes[most]) > len(shapes[least]):
                    return most
    raise AmbiguousArraysError("features")


def _found_labels(
    others: list[_Name], features: _Name, shapes: Mapping[str, tuple[int, ...]]
) -> str:
    same = [each for each in others if each.part is features.part]
    named = [
        each.whole for each in same if each.role is _Role.LABELS and each.rest == features.rest
    ]
    if not named:
        named = [each.whole for each in same if each.role is _Role.LABELS]
    if not named:
        # One other that counts the same.
        named = [each.whole for each in same if _count_the_same(shapes, each.whole, features.whole)]
    return named[0] if len(named) == 1 else ""


def _count_the_same(shapes: Mapping[str, tuple[int, ...]], one: str, other: str) -> bool:
    return shapes.get(one, ())[:1] == shapes.get(other, ())[:1] != ()


def _names(whole: Iterable[str]) -> list[_Name]:
    names = [_name(each) for each in whole]
    # More arrays without names may stand in any order.
    saved = [each for each in names if re.fullmatch(r"arr_\d+", each.whole)]
    if len(saved) > len(_SAVEZ):
        return [_Name(each.whole, _Part.WHOLE, _Role.UNKNOWN, ()) for each in names]
    return names


def _name(whole: str) -> _Name:
    words = _words(_SAVEZ.get(whole, whole))
    part = _Part.WHOLE
    for words_of_part, its in (
        (_TRAINING, _Part.TRAINING),
        (_TEST, _Part.TEST),
        (_VALIDATION, _Part.VALIDATION),
    ):
        if words_of_part & set(words):
            part = its
    # "class_labels", "image_data": the last word says what it is.
    said = next((word for word in reversed(words) if word in _FEATURES | _LABELS), "")
    rest = tuple(sorted(word for word in words if word not in _PARTS and word != said))
    role = _Role.FEATURES if said in _FEATURES else _Role.LABELS if said else _Role.UNKNOWN
    return _Name(whole, part, role, rest)


def _words(name: str) -> list[str]:
    """``xTrain``, ``x_train`` and ``Xtrain`` are the same two words."""
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
    words: list[str] = []
    for word in re.split(r"[^a-z0-9]+", apart):
        glued = _GLUED.fullmatch(word)
        two = [each for each in glued.groups() if each] if glued else []
        is_known = any(each in _FEATURES | _LABELS for each in two)
        words += two if is_known else [word] if word else []
    return words
