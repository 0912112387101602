"""Data sets of tensorflow-datasets, read from the TFRecord files that it prepared.

A prepared set is a folder with ``dataset_info.json``, ``features.json``, names of classes and its
records (https://www.tensorflow.org/datasets/external_tfrecord). It is read without the package.
"""

import contextlib
import re
from collections.abc import Iterator
from dataclasses import replace
from glob import escape

from typing_extensions import override

from gpupanel.domain.choice import Choice
from gpupanel.domain.data import MOST_CLASSES, NO_SPLIT, Target, TfdsData, TfrecordData
from gpupanel.domain.data_source import ImageSource
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.setting import settings_of
from gpupanel.domain.visible_text import visible_line
from gpupanel.trainer.datasets.catalogue.prepared_sets import (
    PreparedFeature,
    PreparedSet,
    content_of,
    damaged_set,
    data_folder,
    find_prepared,
    problem_with,
    read_prepared,
)
from gpupanel.trainer.datasets.catalogue.preparing import prepare_here
from gpupanel.trainer.datasets.examples import AllExamples, DataSet
from gpupanel.trainer.datasets.source import Found, Reading, Source
from gpupanel.trainer.datasets.sources.tfrecord import SOURCE as RECORDS

_SHARD = re.compile(r"\{SHARD_X_OF_Y\}|\{SHARD_INDEX\}|\{NUM_SHARDS\}")
_FIELDS = {
    "data.path": "data.name",
    "data.validation_path": "data.validation_split",
    "data.test_path": "data.test_split",
}
"""The settings of records, as they are called here."""


class _Tfds(Source[TfdsData]):
    """The records of a prepared set."""

    @override
    def read(self, data: TfdsData, reading: Reading) -> DataSet:
        prepared = _prepared(data, reading)
        with _named_as_here():
            found = RECORDS.read(_records(data, prepared), reading)
        return replace(found, class_names=_class_names(data, prepared, found.class_names))

    @override
    def read_all(self, data: TfdsData, reading: Reading, *, needs_labels: bool) -> AllExamples:
        prepared = _prepared(data, reading)
        with _named_as_here():
            records = _records(data, prepared)
            found = RECORDS.read_all(records, reading, needs_labels=needs_labels)
        return replace(found, class_names=_class_names(data, prepared, found.class_names))

    @override
    def find(self, data: TfdsData, reading: Reading) -> Found:
        folder = find_prepared(data)
        if folder is None:
            return Found()
        prepared = read_prepared(folder)
        splits = tuple(
            Choice(name, f"{name}: {sum(split.shards):,} examples")
            for name, split in prepared.splits.items()
        )
        features = tuple(
            Choice(name, f"{name}: {feature.form}") for name, feature in prepared.features.items()
        )
        chosen = prepared.chosen_splits(data)
        taken = dict(zip(("features", "labels"), prepared.chosen(data), strict=True))
        taken |= {
            "validation_split": chosen.get("validation_path", NO_SPLIT),
            "test_split": chosen.get("test_path", NO_SPLIT),
        }
        none = Choice(NO_SPLIT, "None")
        return Found(
            offers={
                "validation_split": (none, *splits),
                "test_split": (none, *splits),
                "features": features,
                "labels": features,
            },
            found={key: name for key, name in taken.items() if name},
        )


def _prepared(data: TfdsData, reading: Reading) -> PreparedSet:
    """The set, prepared first where it is not here.

    Raises:
        ProblemError: It cannot be used, and why.
    """
    folder = find_prepared(data)
    if folder is None:
        prepare_here(data, reading)
        folder = find_prepared(data)
    if folder is None:
        raise problem_with(
            "tfds_not_prepared",
            f"{data.described} was prepared, but not in {data_folder(data)}.",
            "Choose the data folder that it was prepared in.",
        )
    return read_prepared(folder)


def _records(data: TfdsData, prepared: PreparedSet) -> TfrecordData:
    """The records of the set.

    Raises:
        ProblemError: It has no such split or feature, or one that is no image and no numbers.
    """
    features, labels = prepared.chosen(data)
    for name, key in ((features, "features"), (labels, "labels")):
        if name is not None:
            _check_feature(prepared, name, f"data.{key}")
    example = prepared.features.get(features or "", PreparedFeature())
    label = prepared.features.get(labels or "", PreparedFeature())
    paths = {
        key: _pattern(prepared, split, _FIELDS[f"data.{key}"])
        for key, split in prepared.chosen_splits(data).items()
    }
    if len(set(paths.values())) < len(paths):
        raise problem_with(
            "data_sets_alike",
            "The same split is trained on and measured on: examples that were learned from cannot "
            "show how well the model generalises.",
            "Choose another split for each, or none.",
            "data.validation_split",
        )
    shared = {key: getattr(data, key) for key in ImageSource.model_fields}
    return TfrecordData(
        **{**shared, "path": ""} | paths,
        features=features,
        labels=labels,
        predicts=data.predicts or (Target.CLASSES if label.classes is not None else None),
        class_count=_class_count(label),
        image_size=data.image_size,
        color=data.color,
        unreadable_share=data.unreadable_share,
        shape=() if example.tensor is None else example.tensor.shape.dimensions,
        find_sets=False,
    )


def _class_count(label: PreparedFeature) -> int | None:
    count = 0 if label.classes is None else label.classes.count
    return count if 0 < count <= MOST_CLASSES else None


def _check_feature(prepared: PreparedSet, name: str, field: str) -> None:
    feature = prepared.features.get(name)
    if feature is None:
        there = ", ".join(map(visible_line, sorted(prepared.features)[:20]))
        raise problem_with(
            "record_feature_missing",
            f'The examples in {prepared.folder} have no feature "{visible_line(name)}".',
            f"They have {there}.",
            field,
        )
    if not feature.is_usable or (field == "data.labels" and feature.image is not None):
        raise problem_with(
            "tfds_feature_unused",
            f'The feature "{visible_line(name)}" in {prepared.folder} is of the kind '
            f"{visible_line(feature.form)}, and only images, classes and numbers of one shape are "
            "read.",
            "Choose another feature, or another data set.",
            field,
        )


def _pattern(prepared: PreparedSet, name: str, field: str) -> str:
    """The path that means the files of a split."""
    split = prepared.splits.get(name)
    if split is None:
        there = ", ".join(map(visible_line, prepared.splits)) or "none"
        raise problem_with(
            "tfds_split_missing",
            f'The data set in {prepared.folder} has no split "{visible_line(name)}".',
            f"It has {there}; parts of one, such as train[:80%], are not splits.",
            "data.training_split" if field == "data.name" else field,
        )
    file = split.template
    for key, value in (
        ("DATASET", prepared.info.name),
        ("SPLIT", name),
        ("FILEFORMAT", "tfrecord"),
    ):
        file = file.replace(f"{{{key}}}", value)
    begin, *rest = _SHARD.split(file)
    pattern = "*".join(map(escape, (begin, *rest)))
    if "/" in pattern or "{" in pattern or not rest:
        raise damaged_set(prepared.folder, f"its files are called {split.template}")
    return str(prepared.folder / pattern)


def _class_names(
    data: TfdsData, prepared: PreparedSet, numbers: tuple[str, ...]
) -> tuple[str, ...]:
    """The names of the classes, where the set has one for each."""
    labels = prepared.chosen(data)[1]
    if labels is None or labels not in prepared.features or not numbers:
        return numbers
    with contextlib.suppress(ProblemError):  # it has none
        text = content_of(prepared.folder / f"{labels}.labels.txt").decode(errors="replace")
        names = tuple(visible_line(line) for line in text.splitlines() if line)
        if len(names) == len(set(names)) == len(numbers):
            return names
    return numbers


@contextlib.contextmanager
def _named_as_here() -> Iterator[None]:
    """Problems of records name the settings that there are here."""
    try:
        yield
    except ProblemError as error:
        known = {f"data.{each.name}" for each in settings_of(TfdsData)}
        fields = (_FIELDS.get(each.field, each.field) for each in error.problems)
        raise ProblemError(
            *(
                each.model_copy(update={"field": field if field in known else "data.features"})
                for each, field in zip(error.problems, fields, strict=True)
            )
        ) from error


SOURCE = _Tfds()
