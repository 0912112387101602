"""What a preview finds odd about values and labels, which keeps nobody from using them."""

import math
from collections.abc import Iterator

import numpy as np

from gpupanel.domain.preview import PreviewRequest
from gpupanel.domain.problem import Problem
from gpupanel.trainer.datasets.examples import Array, DataSet, Examples
from gpupanel.trainer.datasets.images.files import ImageFiles
from gpupanel.trainer.datasets.images.image_sizes import content_notes, value_notes
from gpupanel.trainer.datasets.label_doubts import label_doubts
from gpupanel.trainer.datasets.packed_inputs import first_input
from gpupanel.trainer.datasets.range_doubts import range_doubts
from gpupanel.trainer.datasets.replaced_examples import with_replacements

_SOME = 64
"""Examples that are read to find the range of values."""
_OF_CLASSES = frozenset(
    {
        *("data_classes_in_class", "data_folders_in_classes", "data_labels_beside"),
        *("data_masks_as_classes", "data_masks_as_images", "data_sets_as_classes"),
    }
)
"""What is odd about folders that are classes."""


def odd_notes(
    data_set: DataSet, request: PreviewRequest, value_range: tuple[float, float] | None
) -> Iterator[Problem]:
    """What is odd about values and labels, and keeps nobody from using them.

    Args:
        data_set: What was read.
        request: What was chosen.
        value_range: Of the training examples: they are not read again.
    """
    files = first_input(data_set.training.features)
    if isinstance(files, ImageFiles):
        yield from value_notes(files, request.seed)
        yield from content_notes(files, request.seed)
    if request.task == "train":
        if data_set.arrays_of is None:
            yield from label_doubts(data_set, request.data)
        are_pixels = data_set.training.features.dtype == np.uint8
        if not are_pixels and not data_set.columns and data_set.texts is None:
            held_out = {"validation": data_set.validation, "test": data_set.test}
            ranges = {
                name: value_range_of(part, request.seed)
                for name, part in held_out.items()
                if part is not None
            }
            yield from range_doubts({"training": value_range, **ranges})


def concerns(note: Problem, request: PreviewRequest) -> bool:
    """Whether it is of something that the task does: a prediction learns no classes."""
    return request.task != "predict" or note.code not in _OF_CLASSES


def value_range_of(examples: Examples, seed: int) -> tuple[float, float] | None:
    """Least and greatest value of some examples; ``None`` where one is not finite."""
    readable = with_replacements(examples)
    count = min(_SOME, len(readable))
    drawn = np.random.default_rng(seed).choice(len(readable), count, replace=False)
    if not count:
        return None
    return range_of(readable.read(drawn.astype(np.int32)))


def range_of(values: Array) -> tuple[float, float] | None:
    """Least and greatest of some values; ``None`` where there are none, or one is not finite."""
    if not values.size:
        return None
    least, greatest = float(values.min()), float(values.max())
    return (least, greatest) if math.isfinite(least) and math.isfinite(greatest) else None
