"""Which of several arrays are the examples and the labels, found by what people call them.

``x`` and ``y``, ``x_train``, ``y_train``, ``x_test`` and ``y_test``, ``images`` and ``labels``,
``train_images`` and ``train_labels``, ``arr_0`` and ``arr_1``; ``x_val`` and ``y_val`` beside them.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
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


class Part(Enum):
    """The set that an array is of, by the words of its name."""

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
    part: Part
    role: _Role
    rest: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ArrayLayout:
    """Names of arrays; empty where there is none of that kind, or none was chosen."""

    features: str = ""
    labels: str = ""
    test_features: str = ""
    test_labels: str = ""
    validation_features: str = ""
    validation_labels: str = ""


class AmbiguousArraysError(Exception):
    """The names do not show which array it is.

    Attributes:
        wanted: What was searched for: ``features`` or ``labels``.
    """

    def __init__(self, wanted: str) -> None:
        super().__init__(wanted)
        self.wanted = wanted


def find_layout(
    shapes: Mapping[str, tuple[int, ...]],
    chosen: ArrayLayout,
    of_set: Part = Part.TRAINING,
    *,
    needs_labels: bool = True,
    has_labels: bool = True,
) -> ArrayLayout:
    """Which arrays are examples and labels, and which of them are of sets held out.

    Args:
        shapes: Of the arrays that there are, by name.
        chosen: Those that were chosen.
        of_set: The set that the whole file is of.
        needs_labels: Without it there may be none.
        has_labels: Without it there are none, whatever arrays are called.

    Raises:
        AmbiguousArraysError: The names do not show it.
    """
    names = _names(shapes)
    features = chosen.features or _detected_features(names, shapes, chosen.labels, of_set)
    beside = next((each for each in names if each.whole == features), None) or _name(features)
    others = [each for each in names if each.whole != features]
    labels = ""
    if has_labels:
        labels = chosen.labels or _detected_labels(others, beside, shapes)
    if not labels and needs_labels and has_labels:
        raise AmbiguousArraysError("labels")
    layout = ArrayLayout(features, labels)
    for part, picked in (
        ("validation", (chosen.validation_features, chosen.validation_labels)),
        ("test", (chosen.test_features, chosen.test_labels)),
    ):
        found = _detected_set(others, Part[part.upper()], beside, _name(labels) if labels else None)
        of_part = [one or other for one, other in zip(picked, found, strict=True)]
        if of_part[0] and (of_part[1] or not labels):
            names_of_part = dict(zip((f"{part}_features", f"{part}_labels"), of_part, strict=True))
            layout = replace(layout, **names_of_part)
    return layout


def _detected_set(
    others: list[_Name], part: Part, features: _Name, labels: _Name | None
) -> tuple[str, str]:
    """The names of a set's examples and labels; empty where there is none."""
    of_training = (Part.WHOLE, Part.TRAINING)
    if features.part not in of_training or (labels and labels.part not in of_training):
        return "", ""
    of_set = [each for each in others if each.part is part]
    found = [each.whole for each in of_set if _is_counterpart(each, features)]
    of_labels = [each.whole for each in of_set if labels and _is_counterpart(each, labels)]
    return found[0] if len(found) == 1 else "", of_labels[0] if len(of_labels) == 1 else ""


def counterparts(there: Iterable[str], training: Collection[str], part: Part) -> dict[str, str]:
    """The arrays of a set held out, by those of the training set that they are called after.

    Args:
        there: All arrays.
        training: Those that are trained on.
        part: The set.

    Returns:
        Without those that there is none for, or several.
    """
    of_set = [each for each in map(_name, there) if each.part is part]
    of_set = [each for each in of_set if each.whole not in training]
    found = {}
    for name in training:
        called = [each.whole for each in of_set if _is_counterpart(each, _name(name))]
        if len(called) == 1:
            found[name] = called[0]
    return found


def _is_counterpart(held_out: _Name, training: _Name) -> bool:
    """Whether it is of a set held out what the other one is of the training set."""
    return (held_out.role, held_out.rest) == (training.role, training.rest)


def _detected_features(
    names: list[_Name], shapes: Mapping[str, tuple[int, ...]], labels: str, of_set: Part
) -> str:
    trained = [each for each in names if each.part in (Part.WHOLE, of_set) and each.whole != labels]
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


def _detected_labels(
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
        return [_Name(each.whole, Part.WHOLE, _Role.UNKNOWN, ()) for each in names]
    return names


def _name(whole: str) -> _Name:
    words = _words(_SAVEZ.get(whole, whole))
    part = Part.WHOLE
    for words_of_part, its in (
        (_TRAINING, Part.TRAINING),
        (_TEST, Part.TEST),
        (_VALIDATION, Part.VALIDATION),
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
