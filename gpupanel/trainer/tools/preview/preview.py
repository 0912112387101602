"""Some examples, read as training does.

Problems with the data and with the model's file are inside the answer. TensorFlow is imported only
to show augmented images, and where nothing else shows what a saved model ends in.

A window asks with every change of the data, so that what reads models, what evaluates and what
explains failures are imported only where there is a model, an evaluation or a failure.
"""

import contextlib
import math
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from gpupanel.domain.data import DataCache, DataSettings, Target
from gpupanel.domain.data_source import LABEL_FIELDS
from gpupanel.domain.example_form import ExampleForm, takes_any_form
from gpupanel.domain.preview import (
    DataPreview,
    EvaluatedPreview,
    ExamplePreview,
    PreviewRequest,
)
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.files.code_file import read_code_file
from gpupanel.trainer.augmentation.image_checks import check_images
from gpupanel.trainer.datasets.checked_form import check_plain
from gpupanel.trainer.datasets.example_previews import example_preview, label_texts, seen
from gpupanel.trainer.datasets.examples import (
    Array,
    DataSet,
    Examples,
    Indices,
    held_rows,
    read_features,
)
from gpupanel.trainer.datasets.images.files import ImageFiles
from gpupanel.trainer.datasets.images.image_sizes import median_size
from gpupanel.trainer.datasets.packed_inputs import first_input
from gpupanel.trainer.datasets.replaced_examples import with_replacements
from gpupanel.trainer.datasets.source import Found, Reading, no_download, read_data, source_of
from gpupanel.trainer.datasets.split import Split, split
from gpupanel.trainer.downloads.keras_cache import needs_download
from gpupanel.trainer.steps.order import make_epoch_order
from gpupanel.trainer.tools.preview.notes import concerns, odd_notes, range_of, value_range_of

_AUGMENTED = 8
_FILES_AT_ONCE = 64
_CHECKED_FILES = 1000
_CHECK_S = 3.0
"""Of more images than these, or than so much time is enough for, some are decoded; training may
find a bad one among the rest."""


def preview(request: PreviewRequest) -> DataPreview:
    """Some examples and the class counts; or the problems that training would have."""
    if request.model is None:
        found, notes = _preview_of_data(request)
        return found.model_copy(update={"model_problems": notes})
    from gpupanel.trainer.tools.preview.model_preview import (
        mixing_layers,
        model_expects,
        model_problems,
        model_scales,
        read_as_trained,
    )

    request = read_as_trained(request)
    found, notes = _preview_of_data(request)
    problems = model_problems(request, found)
    said = {(each.code, each.field) for each in problems}
    problems = (*problems, *(each for each in notes if (each.code, each.field) not in said))
    is_refused = any(problem.is_error for problem in problems)
    scales, divides = (None, False) if is_refused else model_scales(request)
    return found.model_copy(
        update={
            "model_problems": problems,
            "model_scales": scales,
            "model_divides_pixels": divides,
            "model_expects": None if is_refused else model_expects(request),
            "mixing_layers": () if is_refused else mixing_layers(request),
        }
    )


def _preview_of_data(request: PreviewRequest) -> tuple[DataPreview, tuple[Problem, ...]]:
    """What the data is like, and what is said of an evaluation of it."""
    data = request.data
    target = data.target_kind or Target.CLASSES
    if needs_download(data):
        evaluated, notes = _evaluated(request)
        return DataPreview(target=target, needs_download=True, evaluated=evaluated), notes
    if data.is_code:
        # Code is carried out by a run that somebody started, and by nothing else.
        evaluated, notes = _evaluated(request)
        unread = DataPreview(
            target=target, needs_start=True, evaluated=evaluated, problems=_missing_code(data)
        )
        return unread, notes
    data = data.model_copy(update={"cache": DataCache.NONE})
    found = Found()
    try:
        found = source_of(data).find(data, _reading(request))
        if request.task == "predict" and _lacks_labels(data, request):
            unlabelled = DataPreview(target=target, offers=found.offers, found=found.found)
            return _of_features(request, unlabelled), ()
        data_set = read_data(data, _reading(request))
        takes_form = request.model is not None and takes_any_form(request.model)
        if request.task != "train" and not takes_form:
            check_plain(data, data_set.form)
        parts = split(data_set, data, request.seed)
        trained, held_out = _epoch_counts(request, parts)
        for part in filter(None, (data_set.training, data_set.validation, data_set.test)):
            _check_some(with_replacements(part), request.seed)
        examples, augmented = _examples(data_set, request)
        value_range = value_range_of(data_set.training, request.seed)
        odd = tuple(odd_notes(data_set, request, value_range))
    except Exception as error:  # noqa: BLE001 - reported as a problem, as in training
        from gpupanel.trainer.failures import LOOKING_AT_DATA, problems_of

        refused = DataPreview(
            target=target,
            offers=found.offers,
            found=found.found,
            problems=problems_of(error, what=LOOKING_AT_DATA),
        )
        return _of_features(request, refused), ()
    evaluated, notes = _evaluated(request, data_set)
    shown = DataPreview(
        example_count=len(data_set.training),
        validation_example_count=len(data_set.validation or ()),
        test_example_count=len(data_set.test or ()),
        training_count=len(parts.training),
        trained_count=trained,
        held_out_count=held_out,
        feature_shape=data_set.training.feature_shape,
        form=data_set.form,
        target=data_set.target,
        value_count=_value_count(data_set),
        offers=found.offers,
        found={**found.found, **_found_target(data_set)},
        class_counts=_class_counts(data_set, data_set.training),
        examples=examples,
        augmented=augmented,
        columns=data_set.columns,
        texts=data_set.texts,
        image_sides=_median_image_size(data_set.training, request.seed),
        value_range=value_range,
        evaluated=evaluated,
        problems=tuple(each for each in (*data_set.all_notes(), *odd) if concerns(each, request)),
    )
    return shown, notes


def _evaluated(
    request: PreviewRequest, data_set: DataSet | None = None
) -> tuple[EvaluatedPreview | None, tuple[Problem, ...]]:
    """Which examples would be evaluated, of data that was read or that only a run reads."""
    if request.task != "evaluate":
        return None, ()
    from gpupanel.trainer.inference.evaluated_preview import evaluated_preview, unread_preview

    return unread_preview(request) if data_set is None else evaluated_preview(request, data_set)


def _lacks_labels(data: DataSettings, request: PreviewRequest) -> bool:
    """Whether a prediction reads examples without labels, which may be more than those with one.

    Raises:
        ProblemError: It cannot read them.
    """
    if not data.predicts_on_unlabelled or Path(data.chosen_path).is_file():
        return False
    found = source_of(data).read_all(data, _reading(request), needs_labels=False)
    return found.labels is None


def _median_image_size(examples: Examples, seed: int) -> tuple[int, int] | None:
    files = first_input(examples.features)
    return median_size(files, seed) if isinstance(files, ImageFiles) else None


def _epoch_counts(request: PreviewRequest, divided: Split) -> tuple[int, int]:
    """How many examples an epoch trains on, and how many validate after it."""
    if request.task != "train":
        return 0, 0
    trained = 0
    if divided.data.arrays_of is not None:  # planning says what cannot be done with these
        return len(divided.training), len(divided.validation or ())
    with contextlib.suppress(ProblemError):  # planning says why rare classes cannot be repeated
        trained = len(make_epoch_order(request.data, divided, request.seed))
    return trained, len(divided.validation or ())


def _reading(request: PreviewRequest) -> Reading:
    model, is_training = request.model, request.task == "train"
    reading = Reading(
        no_download,
        seed=request.seed,
        must_differ=is_training,
        is_preview=True,
        needs_labels=request.task != "predict",
    )
    if model is None or not model.is_saved:
        return reading
    from gpupanel.trainer.models.model_file import recipe_in
    from gpupanel.trainer.models.saved_recipe import reading_to_train

    with contextlib.suppress(ProblemError):  # what is wrong with the model is said of it
        if is_training:
            return reading_to_train(reading, model, request.data)
        more = request.task == "evaluate"
        return replace(reading, recipe=recipe_in(model.chosen_path), more_classes=more)
    return reading


def _missing_code(data: DataSettings) -> tuple[Problem, ...]:
    if data.lacks_path:
        return ()  # planning says it
    try:
        read_code_file(Path(data.chosen_path), "data.path")
    except ProblemError as error:
        return error.problems
    return ()


def _of_features(request: PreviewRequest, refused: DataPreview) -> DataPreview:
    """Data without labels, which can be predicted on, is shown all the same."""
    data = request.data
    is_of_labels = {problem.field for problem in refused.problems} <= LABEL_FIELDS
    lacks_recipe = data.makes_features and request.task == "train"
    if lacks_recipe or not (is_of_labels or request.task == "predict"):
        return refused
    try:
        found = source_of(data).read_all(data, _reading(request), needs_labels=False)
        drawn = np.random.default_rng(request.seed).choice(
            len(found), min(_FILES_AT_ONCE, len(found)), replace=False
        )
        read = read_features(found.features, drawn.astype(np.int32))
        features = read[: request.example_limit]
    except ProblemError as error:
        # Labels need not be there to be predicted; the features must be right.
        # Not by a set: what a fix changes may be a list.
        more = [each for each in error.problems if each not in refused.problems]
        return refused.model_copy(update={"problems": (*refused.problems, *more)})
    greatest = 255.0 if features.dtype == np.uint8 else 1.0
    form = ExampleForm(inputs={each.name: each.shape for each in found.inputs})
    shown, greatest = seen(features, found, greatest)
    if not is_of_labels:  # a run that predicts reads it so, whatever its classes are
        refused = refused.model_copy(update={"problems": found.notes})
    return refused.model_copy(
        update={
            "example_count": len(found),
            "feature_shape": tuple(features.shape[1:]),
            "value_range": range_of(read),
            "examples": tuple(example_preview("", one, greatest, found.words) for one in shown),
            "form": form,
            "found": {**refused.found, "predicts": found.target},
        }
    )


def _check_some(examples: Examples, seed: int) -> None:
    """Decode examples that stay on disk, all of them where they are few."""
    if held_rows(examples.features) is None:
        drawn = np.random.default_rng(seed).permutation(len(examples))[:_CHECKED_FILES]
        until_s = time.monotonic() + _CHECK_S
        for start in range(0, len(drawn), _FILES_AT_ONCE):
            examples.read(drawn[start : start + _FILES_AT_ONCE].astype(np.int32))
            if time.monotonic() > until_s:
                return


def _class_counts(data: DataSet, training: Examples) -> tuple[tuple[str, int], ...]:
    if not data.class_names or data.arrays_of is not None:
        return ()
    if data.target is Target.LABELS:
        counts = np.count_nonzero(training.labels, axis=0)
    else:
        counts = np.bincount(training.labels.astype(np.int64), minlength=len(data.class_names))
    return tuple((name, int(count)) for name, count in zip(data.class_names, counts, strict=True))


Previews = tuple[ExamplePreview, ...]


def _examples(data: DataSet, request: PreviewRequest) -> tuple[Previews, Previews]:
    """Some examples, and the first of them as an epoch may change them."""
    training = with_replacements(data.training)
    count = min(request.example_limit, len(training))
    drawn = np.random.default_rng(request.seed).choice(len(training), count, replace=False)
    indices = drawn.astype(np.int32)
    labels = list(label_texts(data, training.labels[indices]))
    features, greatest = seen(training.read(indices), data, data.greatest)
    shown = features, _augmented(data, request, training, indices[:_AUGMENTED])
    plain, augmented = (
        tuple(
            example_preview(*pair, greatest, data.words) for pair in zip(labels, each, strict=False)
        )
        for each in shown
    )
    return plain, augmented


def _augmented(
    data: DataSet, request: PreviewRequest, training: Examples, indices: Indices
) -> Array:
    """These examples as the first epoch changes them; none where nothing is changed.

    Raises:
        ProblemError: They cannot be changed so.
    """
    augmentation = request.data.chosen_augmentation
    if not data.form.is_plain:  # likewise
        return np.empty((0, *training.feature_shape), np.float32)
    check_images(augmentation, training.feature_shape)
    if not augmentation.changes_anything or not len(indices):
        return np.empty((0, *training.feature_shape), np.float32)
    from gpupanel.trainer.augmentation.preview import augmented_examples  # imports TensorFlow

    return augmented_examples(data, augmentation, training.subset(indices), request.seed)


def _found_target(data: DataSet) -> dict[str, Target]:
    """What the labels were found to be; nothing where the profile alone says what is predicted."""
    is_said = data.outputs or data.learns_inputs
    return {} if is_said else {"predicts": data.target}


def _value_count(data: DataSet) -> int:
    if data.target is not Target.VALUES or data.arrays_of is not None:
        return 0
    return math.prod(data.training.labels.shape[1:])
