"""What of a record is the example and what its label: chosen, or found in the first records."""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from gpupanel.domain.data import TfrecordData
from gpupanel.domain.problem import ProblemError
from gpupanel.trainer.datasets.arrays.layout import (
    AmbiguousArraysError,
    ArrayLayout,
    find_layout,
)
from gpupanel.trainer.datasets.records import problems
from gpupanel.trainer.datasets.records.example_fields import (
    FeatureKind,
    byte_spans,
    features_of,
    numbers_of,
)
from gpupanel.trainer.datasets.records.first_records import (
    FeatureFacts,
    FirstRecords,
    is_image,
    taker,
)

_ABOUT = frozenset(
    ["shape", "height", "width", "depth", "channels", "channel", "size", "format", "filename"]
) | {"name", "id", "key", "text", "colorspace", "sha256", "bbox", "path", "index"}
"""The last word of a feature that says something of the example, and is neither it nor a label."""
_OF_CLASSES = frozenset(["label", "labels", "class", "classes", "category", "target", "y"])
"""The last word of a feature of text that names the class of an example."""
_SHAPES = (("shape",), ("height", "width", "depth"), ("height", "width", "channels"))
_FEW_SHAPES = (*_SHAPES, ("height", "width"))
_MOST_AXES = 4


@dataclass(frozen=True, slots=True)
class RecordLayout:
    """What is read of each record.

    Attributes:
        features: The name of the feature that is learned from.
        kind: Of its values.
        shape: Of one example.
        dtype: Of raw bytes, in which the number stands; ``None``: they are an encoded image, or
            numbers of their own.
        labels: The name of the feature that is predicted; empty: it is not read.
        labels_kind: Of its values.
        labels_count: How many it has.
        shape_features: The features that say the shape, which must be the same in every record.
        said_shape: What they say; it may be written otherwise than the shape.
    """

    features: str
    kind: FeatureKind
    shape: tuple[int, ...]
    dtype: np.dtype[np.generic] | None = None
    labels: str = ""
    labels_kind: FeatureKind = "int64"
    labels_count: int = 1
    shape_features: tuple[str, ...] = ()
    said_shape: tuple[int, ...] = ()

    @property
    def is_image(self) -> bool:
        """Whether the example is an encoded image."""
        return self.kind == "bytes" and self.dtype is None

    @property
    def are_bytes(self) -> bool:
        """Whether the numbers of an example are bytes, which are pixels; else ``float32``."""
        return self.is_image or self.dtype == np.uint8

    @property
    def count(self) -> int:
        """How many numbers an example has; of raw bytes, how many bytes."""
        return math.prod(self.shape) * (1 if self.dtype is None else self.dtype.itemsize)

    @property
    def names(self) -> frozenset[str]:
        """Of all features that are read."""
        return frozenset({self.features, self.labels, *self.shape_features} - {""})


def found_layout(data: TfrecordData, first: FirstRecords, *, needs_labels: bool) -> RecordLayout:
    """What the examples and labels of records are, as far as the first of them show it.

    Args:
        data: What was chosen.
        first: The first records.
        needs_labels: Without it there may be none.

    Raises:
        ProblemError: It is not clear, or does not fit what was chosen.
    """
    chosen = ArrayLayout(data.features or "", data.labels or "")
    for name, key in ((chosen.features, "features"), (chosen.labels, "labels")):
        if name and name not in first.features and (needs_labels or key == "features"):
            raise problems.missing_feature(first.path, 1, name, first.features, f"data.{key}")
    features = chosen.features or _found_features(first, chosen.labels)
    labels = chosen.labels if chosen.labels in first.features else ""
    if not chosen.labels:
        labels = _found_labels(first, features, needs_labels=needs_labels)
    layout = _layout(data, first, features)
    return layout if not labels else _with_labels(layout, first, labels)


def _found_features(first: FirstRecords, labels: str) -> str:
    features = {name: facts for name, facts in first.features.items() if name != labels}
    images = [name for name, facts in features.items() if facts.image]
    if len(images) == 1:
        return images[0]
    may_be = {name: facts for name, facts in features.items() if _may_be_example(name, facts)}
    images = [name for name in images if name in may_be]
    try:
        shapes = _shapes({name: may_be[name] for name in images} or may_be)
        beside = {labels: (1,)} if labels else {}
        return find_layout(
            {**shapes, **beside}, ArrayLayout(labels=labels), needs_labels=False
        ).features
    except AmbiguousArraysError as error:
        raise problems.ambiguous(
            first.path, "the examples", _forms(first), "data.features"
        ) from error


def _found_labels(first: FirstRecords, features: str, *, needs_labels: bool) -> str:
    shapes = _shapes(
        {
            name: facts
            for name, facts in first.features.items()
            if facts.kind != "bytes" and min(facts.counts) > 0 and not _is_about(name)
        }
    )
    try:
        found = find_layout({**shapes, features: (1, 2)}, ArrayLayout(features)).labels
    except AmbiguousArraysError as error:
        names = [
            name
            for name, facts in first.features.items()
            if name != features and facts.may_be_name and _last_word(name) in _OF_CLASSES
        ]
        if len(names) == 1:
            return names[0]
        if not needs_labels:
            return ""
        raise problems.ambiguous(first.path, "the labels", _forms(first), "data.labels") from error
    return found


def _may_be_example(name: str, facts: FeatureFacts) -> bool:
    if _is_about(name) or min(facts.counts) == 0:
        return False
    # A single text of bytes may be raw numbers; what differs in length is none.
    return facts.kind != "bytes" or (
        facts.counts == (1, 1) and facts.lengths[0] == facts.lengths[1]
    )


def _is_about(name: str) -> bool:
    return _last_word(name) in _ABOUT


def _last_word(name: str) -> str:
    return re.split(r"[^a-z0-9]+", name.lower())[-1]


def _shapes(features: Mapping[str, FeatureFacts]) -> dict[str, tuple[int, ...]]:
    """As arrays have them: an axis of records, one of numbers where there are several."""
    return {
        name: (1,) if facts.kind != "bytes" and facts.counts == (1, 1) else (1, 2)
        for name, facts in features.items()
    }


def _forms(first: FirstRecords) -> Iterable[str]:
    return (f"{name} ({facts.form})" for name, facts in first.features.items())


def _layout(data: TfrecordData, first: FirstRecords, name: str) -> RecordLayout:
    features = features_of(taker(first.first), len(first.first))
    feature = features.get(name)
    if feature is None:
        raise problems.missing_feature(first.path, 1, name, features, "data.features")
    take = taker(first.first)
    if feature.kind == "bytes":
        spans = byte_spans(take, feature)
        if len(spans) != 1:
            why = f"has {len(spans):,} texts of bytes in the first one, and an example is one"
            raise problems.unused_feature(first.path, name, why, "data.features")
        value = first.first[slice(*spans[0])]
        if data.raw_type is None and is_image(value):
            channels = 3 if data.color == "rgb" else 1
            return RecordLayout(name, "bytes", (*data.image_size, channels))
        dtype = np.dtype(data.raw_type or "uint8").newbyteorder("<")
        count, rest = divmod(len(value), dtype.itemsize)
        if rest:
            what = f"has {len(value):,} bytes, which are not a whole number of {dtype.name}"
            raise problems.unfit_shape(first.path, name, what, "data.raw_type")
    else:
        dtype, count = None, len(numbers_of(take, feature))
    if not count:
        raise problems.unused_feature(first.path, name, "is empty", "data.features")
    shape, names, said = _shape(data, first, name, count)
    return RecordLayout(name, feature.kind, shape, dtype, shape_features=names, said_shape=said)


def _shape(
    data: TfrecordData, first: FirstRecords, name: str, count: int
) -> tuple[tuple[int, ...], tuple[str, ...], tuple[int, ...]]:
    """The shape of an example, which features say it, and what these say."""
    if data.shape:
        if math.prod(data.shape) != count:
            shown = " x ".join(map(str, data.shape))
            what = f"has {count:,} numbers, and not those of {shown}"
            raise problems.unfit_shape(first.path, name, what, "data.shape")
        return data.shape, (), ()
    chosen = data.chosen_shape_features
    if chosen:
        said = _said(first, chosen)
        if math.prod(said) != count or not said:
            shown = " x ".join(map(str, said)) or "none"
            what = f"has {count:,} numbers, and the shape that the record says is {shown}"
            raise problems.unfit_shape(first.path, name, what, "data.shape_features")
        return said, chosen, said
    for names in _shape_names(first, name):
        said = _said(first, names)
        if said and math.prod(said) == count:
            return said, names, said
    return (count,), (), ()


def _shape_names(first: FirstRecords, name: str) -> Iterable[tuple[str, ...]]:
    """Features that may say the shape, by their names: those that are called after it first."""
    above = name.rpartition("/")[0]
    prefixes = [f"{name}/", f"{name}_", *([f"{above}/"] if above else []), ""]
    for prefix in prefixes:
        for words in _FEW_SHAPES:
            names = tuple(f"{prefix}{word}" for word in words)
            if all(each in first.features for each in names):
                yield names


def _said(first: FirstRecords, names: tuple[str, ...]) -> tuple[int, ...]:
    """The shape that features of the first record say; empty: they say none.

    Raises:
        ProblemError: One of them is not there.
    """
    take = taker(first.first)
    features = features_of(take, len(first.first))
    said: list[int] = []
    for name in names:
        if name not in features:
            raise problems.missing_feature(first.path, 1, name, features, "data.shape_features")
        if features[name].kind != "int64":
            return ()
        said += numbers_of(take, features[name])[: _MOST_AXES + 1].tolist()
    is_shape = len(said) <= _MOST_AXES and all(0 < each <= 2**31 for each in said)
    return tuple(said) if is_shape else ()


def _with_labels(layout: RecordLayout, first: FirstRecords, name: str) -> RecordLayout:
    feature = features_of(taker(first.first), len(first.first)).get(name)
    if feature is None:
        raise problems.missing_feature(first.path, 1, name, first.features, "data.labels")
    if feature.kind == "bytes":
        if not first.features[name].may_be_name:
            raise _no_labels(first, name)
        return replace(layout, labels=name, labels_kind="bytes", labels_count=1)
    count = len(numbers_of(taker(first.first), feature))
    if not count:
        raise problems.unused_feature(first.path, name, "is empty", "data.labels")
    return RecordLayout(
        layout.features,
        layout.kind,
        layout.shape,
        layout.dtype,
        name,
        feature.kind,
        count,
        layout.shape_features,
        layout.said_shape,
    )


def _no_labels(first: FirstRecords, name: str) -> ProblemError:
    why = "holds bytes that are not names of classes: labels are numbers, or one short text each"
    return problems.unused_feature(first.path, name, why, "data.labels")
