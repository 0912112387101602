"""Labels that are arrays: what they must be, and what cannot be done with them.

A label is an array where it has a class, a value, or 0 or 1 at each of several places: a mask, a
sequence, an image. Only a model of the person's own code gives such, so that whatever else knows
labels as a number or a row of numbers refuses them here, by name, before anything is learned.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from gpupanel.domain.data import MOST_CLASSES, ClassWeights, Target
from gpupanel.domain.data_source import DataSource
from gpupanel.domain.problem import Change, Fix, Problem, ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.trainer.datasets.checks import NUMBER_KINDS, ArrayName
from gpupanel.trainer.datasets.examples import Array, DataSet
from gpupanel.trainer.datasets.labels import Labels, are_zeros_and_ones, checked_values


def checked_arrays(
    labels: Array,
    name: ArrayName,
    target: Target,
    class_count: int | None = None,
    *,
    must_differ: bool = True,
) -> Labels:
    """Labels that are arrays: ``int32`` class numbers or ``float32`` numbers, [examples, ...].

    Args:
        labels: First axis the examples; of classes a trailing axis of length 1 is dropped.
        name: Where they come from.
        target: What each place of them is.
        class_count: How many classes there are; ``None``: the greatest label plus one.
        must_differ: Refuse classes that are all the same: nothing can be learned from them.

    Raises:
        ProblemError: They are none of that kind.
    """
    if labels.size == 0:
        raise name.problem(
            "data_empty",
            f"{name} is empty: its shape is {labels.shape}.",
            "Give an array of at least one number for each example.",
        )
    match target:
        case Target.VALUES:
            values = checked_values(labels, name, are_arrays=True)
            return Labels(values, target, 0, are_arrays=True)
        case Target.LABELS:
            return Labels(_zeros_and_ones(labels, name), target, 0, are_arrays=True)
    if labels.shape[-1] == 1:
        labels = labels[..., 0]  # a mask as an image of one channel
    _check_classes(labels, name)
    greatest = int(labels.max())
    _check_greatest(greatest, class_count, name)
    array = labels.astype(np.int32)
    if must_differ and int(array.min()) == greatest:
        raise name.problem(
            "data_one_class",
            f"{name} holds one class only ({greatest}), so there is nothing to distinguish.",
            "Use data with places of two classes or more.",
        )
    return Labels(array, target, class_count or greatest + 1, are_arrays=True)


def _zeros_and_ones(labels: Array, name: ArrayName) -> Array:
    if not are_zeros_and_ones(labels):
        raise name.problem(
            "data_labels_not_zero_or_one",
            f"{name} holds other values than 0 and 1, but each place of its arrays is true or not.",
            'Set data.predicts to "classes" for class numbers, or to "values".',
        )
    return labels.astype(np.float32)


def _check_classes(labels: Array, name: ArrayName) -> None:
    odd = ""
    if labels.dtype.kind not in NUMBER_KINDS:
        odd = f"{labels.dtype} values"
    elif labels.dtype.kind == "f":
        whole = np.isfinite(labels) & (labels == np.floor(labels))
        if not whole.all():
            odd = _first_at(labels, ~whole)
    if odd:
        raise name.problem(
            "data_labels_not_integer",
            f"{name} holds {odd}, but the class of each place must be a whole number.",
            'Number the classes 0, 1, 2, ...; or set data.predicts to "values".',
        )
    if labels.min() < 0:
        raise name.problem(
            "data_labels_negative",
            f"{name} holds the negative label {_first_at(labels, np.less(labels, 0))}.",
            "Number the classes from 0; a place without a class needs one of its own.",
        )


def _check_greatest(greatest: int, class_count: int | None, name: ArrayName) -> None:
    if class_count is not None and greatest >= class_count:
        raise name.problem(
            "data_labels_out_of_range",
            f"{name} holds the label {greatest}, but with {class_count:,} classes labels go from 0 "
            f"to {class_count - 1}.",
            "Correct the labels, or name all classes.",
        )
    # A mask that was saved as an image has 255 for its only class: names say that it is meant.
    if class_count is None and greatest >= min(MOST_CLASSES, 1_000):
        raise name.problem(
            "data_labels_out_of_range",
            f"{name} holds the label {greatest}, which would mean {greatest + 1:,} classes.",
            'Number the classes from 0 without gaps, or name them in "class_names"; or set '
            'data.predicts to "values".',
        )


def _first_at(labels: Array, odd: Array) -> str:
    example, *place = np.unravel_index(int(np.argmax(odd)), odd.shape)
    where = ", ".join(str(int(axis)) for axis in place)
    return f"{labels[(example, *place)]} in example {int(example):,} at ({where})"


def check_array_settings(profile: Profile, data: DataSet) -> None:
    """Refuse what would take labels that are arrays for numbers or rows.

    Args:
        profile: Trains.
        data: What it was read as.

    Raises:
        ProblemError: Everything of the profile that would.
    """
    if data.arrays_of is None:
        return
    problems = tuple(_misfits(profile, data))
    if problems:
        raise ProblemError(*problems)


def arrays_refused(data: DataSource, shape: tuple[int, ...], who: str) -> Problem:
    """What is said of labels that are arrays where a number or a row an example is needed.

    Args:
        data: Where they come from.
        shape: Of the labels of one example.
        who: Takes no arrays, as the subject of a sentence.
    """
    return Problem(
        code="labels_are_arrays",
        field="data.source",
        message=f"The labels that {data.described} are arrays of the shape {shape} for each "
        f"example, and {who} a number or a row of numbers.",
        hint='Train a Python model on them (model.source = "python"); or give one label an '
        'example. Rows of 0 and 1 are several labels (data.predicts = "labels"), others values '
        '("values").',
    )


def _misfits(profile: Profile, data: DataSet) -> Iterator[Problem]:
    settings, training = profile.data, profile.training
    model = profile.model
    if not model.is_code and (model.has_new_head or not model.is_saved):
        who = f"a model of {profile.model.source} gives"
        yield arrays_refused(settings, data.label_shape, who)
    what = "the examples themselves" if data.learns_inputs else "arrays"
    if data.outputs:
        what = "of several outputs"
    for keys, doing, is_done in (
        (["data.stratify"], "hold out examples by class", settings.stratify),
        (["data.oversample"], "repeat examples of rare classes", settings.oversample),
        (
            ["data.class_weights"],
            "weight examples by class",
            settings.class_weights is not ClassWeights.NONE,
        ),
        (
            ["data.augmentation"],
            "change examples at random",
            settings.chosen_augmentation.changes_anything,
        ),
        (
            ["training.loss", "training.label_smoothing"],
            "smooth labels or use a focal loss",
            training.changes_loss,
        ),
    ):
        if is_done:
            yield _of_one_label(keys, what, doing)
    unmeasured = training.best_metric.misfit_of_arrays(None if data.outputs else data.target)
    if unmeasured is not None and settings.may_validate:
        yield unmeasured


def _of_one_label(keys: Sequence[str], what: str, doing: str) -> Problem:
    unset = tuple(Change(path=tuple(key.split("."))) for key in keys)
    return Problem(
        code="setting_not_of_arrays",
        field=keys[0],
        message=f"The labels are {what}, and to {doing} is possible where an example has one "
        "label, or a row of them.",
        hint="Leave it out; a loss of your own can weight places, and your own code change "
        "examples together with their labels.",
        fix=Fix(label="Leave it out", changes=unset),
    )
