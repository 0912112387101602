"""What of a record is the example and what its label: chosen, or found in the first records."""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from gpupanel.domain.data import TfrecordData
from gpupanel.domain.problem import ProblemError
from gpupanel.domain.tfrecord_data import RAW_TYPES, RawType
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
from gpupanel.trainer.datasets.records.example_shape import (
    ExampleShape,
    example_number_count,
    example_shape,
)
from gpupanel.trainer.datasets.records.first_records import (
    FeatureFacts,
    FirstRecords,
    is_image,
    taker,
)
from gpupanel.trainer.datasets.records.raw_bytes import Tensor, likely_types, tensor_in

_ABOUT = frozenset(
    ["shape", "height", "width", "depth", "channels", "channel", "size", "format", "filename"]
) | {"name", "id", "key", "text", "colorspace", "sha256", "bbox", "path", "index"}
"""The last word of a feature that says something of the example, and is neither it nor a label."""
_OF_CLASSES = frozenset(["label", "labels", "class", "classes", "category", "target", "y"])
"""The last word of a feature of text that names the class of an example."""
_MASKS = frozenset(
    ["mask", "masks", "segmentation", "seg", "annotation", "trimap", "depth", "groundtruth", "gt"]
) | {"label", "labels", "target"}
"""Words of a feature with an image that says something of each pixel of another one."""
_FEWEST_PIXELS = 64
"""Fewer numbers or bytes are no mask: a class, a box, or a tensor of one number."""


@dataclass(frozen=True, slots=True)
class RecordLayout:
    """What is read of each record.

    Attributes:
        features: The name of the feature that is learned from.
        kind: Of its values.
        shape: Of one example.
        dtype: Of raw bytes, in which the number stands; ``None``: they are an encoded image, or
            numbers of their own.
        prefix: Of a serialized tensor, what stands before its numbers; empty: it is none.
        labels: The name of the feature that is predicted; empty: it is not read.
        labels_kind: Of its values.
        labels_count: How many it has.
        shape_features: The features that say the shape, which must be the same in every record.
        recorded_shape: What they say; it may be written otherwise than the shape.
    """

    features: str
    kind: FeatureKind
    shape: tuple[int, ...]
    dtype: np.dtype[np.generic] | None = None
    labels: str = ""
    labels_kind: FeatureKind = "int64"
    labels_count: int = 1
    shape_features: tuple[str, ...] = ()
    recorded_shape: tuple[int, ...] = ()
    prefix: bytes = b""

    @property
    def raw_type(self) -> RawType | None:
        """The type of raw bytes as a profile names it; ``None``: there are none."""
        if self.dtype is None:
            return None
        return "tensor" if self.prefix else RAW_TYPES[self.dtype.name]

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
        if self.dtype is None:
            return math.prod(self.shape)
        return len(self.prefix) + math.prod(self.shape) * self.dtype.itemsize

    @property
    def names(self) -> frozenset[str]:
        """The names of all features that are read."""
        return frozenset({self.features, self.labels, *self.shape_features} - {""})


def detected_layout(data: TfrecordData, first: FirstRecords, *, needs_labels: bool) -> RecordLayout:
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
    features = chosen.features or _detected_features(first, chosen.labels)
    labels = chosen.labels if chosen.labels in first.features else ""
    if not chosen.labels:
        labels = _detected_labels(first, features, needs_labels=needs_labels)
    layout = _layout(data, first, features)
    return layout if not labels else _with_labels(layout, first, labels)


def _detected_features(first: FirstRecords, labels: str) -> str:
    features = {name: facts for name, facts in first.features.items() if name != labels}
    images = [name for name, facts in features.items() if facts.image]
    without_masks = [name for name in images if not _is_mask(name)]
    if len(without_masks) == 1:
        return without_masks[0]
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


def _detected_labels(first: FirstRecords, features: str, *, needs_labels: bool) -> str:
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
        masks = [
            name
            for name, facts in first.features.items()
            if name != features and _is_mask(name) and _may_be_pixels(facts)
        ]
        if masks:
            raise problems.mask_beside(first.path, features, masks[0]) from error
        raise problems.ambiguous(first.path, "the labels", _forms(first), "data.labels") from error
    return found


def _is_mask(name: str) -> bool:
    """Whether a feature is called as what says of each pixel what it shows."""
    return not _MASKS.isdisjoint(_words(name))


def _may_be_pixels(facts: FeatureFacts) -> bool:
    """Whether a feature has something for each pixel, and not one number of the whole image."""
    return bool(facts.image) or max(facts.counts[1], facts.lengths[1]) > _FEWEST_PIXELS


def _may_be_example(name: str, facts: FeatureFacts) -> bool:
    is_label = _last_word(name) in _OF_CLASSES and not facts.image
    if _is_about(name) or is_label or min(facts.counts) == 0:
        return False
    # A single text of bytes may be raw numbers; what differs in length is none, but for images.
    return facts.kind != "bytes" or (
        facts.counts == (1, 1) and (bool(facts.image) or facts.lengths[0] == facts.lengths[1])
    )


def _is_about(name: str) -> bool:
    return _last_word(name) in _ABOUT


def _last_word(name: str) -> str:
    return _words(name)[-1]


def _words(name: str) -> list[str]:
    return re.split(r"[^a-z0-9]+", name.lower())


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
        tensor = tensor_in(value) if data.raw_type in (None, "tensor") else None
        if tensor is not None:
            return _tensor_layout(data, first, name, tensor)
        dtype = _raw_type(data, first, name, value).newbyteorder("<")
        count, rest = divmod(len(value), dtype.itemsize)
        if rest:
            what = f"has {len(value):,} bytes, which are not a whole number of {dtype.name}"
            raise problems.unfit_shape(first.path, name, what, "data.raw_type")
    else:
        dtype, count = None, len(numbers_of(take, feature))
    if not count:
        raise problems.unused_feature(first.path, name, "is empty", "data.features")
    shape, names, said = example_shape(data, first, name, count)
    return RecordLayout(name, feature.kind, shape, dtype, shape_features=names, recorded_shape=said)


def _tensor_layout(
    data: TfrecordData, first: FirstRecords, name: str, tensor: Tensor
) -> RecordLayout:
    """The layout of a serialized tensor: its own shape, unless another one was chosen."""
    said: ExampleShape = (tensor.shape or (1,), (), ())
    if data.shape or data.chosen_shape_features:
        said = example_shape(data, first, name, math.prod(tensor.shape))
    shape, names, numbers = said
    return RecordLayout(
        name,
        "bytes",
        shape,
        np.dtype(tensor.dtype).newbyteorder("<"),
        shape_features=names,
        recorded_shape=numbers,
        prefix=tensor.prefix,
    )


def _raw_type(
    data: TfrecordData, first: FirstRecords, name: str, value: bytes
) -> np.dtype[np.generic]:
    """The type of the numbers in raw bytes, chosen or found.

    Raises:
        ProblemError: They may well be of several types, or are no tensor as was chosen.
    """
    if data.raw_type == "tensor":
        why = "is not a tensor of numbers as tf.io.serialize_tensor writes it"
        raise problems.unused_feature(first.path, name, why, "data.raw_type")
    if data.raw_type is not None:
        return np.dtype(data.raw_type)
    count = example_number_count(data, first, name)
    number_bytes = len(value) // count if count and len(value) % count == 0 else None
    types = likely_types(value, number_bytes) or ("uint8",)
    if len(types) > 1:
        raise problems.ambiguous_type(first.path, name, types)
    return np.dtype(types[0])


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
    return replace(layout, labels=name, labels_kind=feature.kind, labels_count=count)


def _no_labels(first: FirstRecords, name: str) -> ProblemError:
    why = "holds bytes that are not names of classes: labels are numbers, or one short text each"
    return problems.unused_feature(first.path, name, why, "data.labels")
