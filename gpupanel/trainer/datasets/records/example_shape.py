"""The shape of an example of numbers or raw bytes: chosen, or said by features of the record."""

import math
from collections.abc import Iterable
from typing import Final

from gpupanel.domain.data import TfrecordData
from gpupanel.trainer.datasets.records import problems
from gpupanel.trainer.datasets.records.example_fields import features_of, numbers_of
from gpupanel.trainer.datasets.records.first_records import FirstRecords, taker

_SHAPES: Final = (("shape",), ("height", "width", "depth"), ("height", "width", "channels"))
_FEW_SHAPES: Final = (*_SHAPES, ("height", "width"))
_MOST_AXES: Final = 4
ExampleShape = tuple[tuple[int, ...], tuple[str, ...], tuple[int, ...]]
"""The shape of an example, the features that hold it, and their values."""


def example_shape(data: TfrecordData, first: FirstRecords, name: str, count: int) -> ExampleShape:
    """The shape of an example.

    Args:
        data: What was chosen.
        first: The first records.
        name: Of the feature that is the example.
        count: How many numbers it has.

    Raises:
        ProblemError: What was chosen has another number of places.
    """
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


def example_number_count(data: TfrecordData, first: FirstRecords, name: str) -> int:
    """How many numbers an example has by its shape, as far as that is chosen or said; 0: by none.

    Features of the usual names that say something else, such as the size of a picture before it
    was cropped, say nothing of these bytes.
    """
    if data.shape:
        return math.prod(data.shape)
    chosen = data.chosen_shape_features
    for names in [chosen] if chosen else _shape_names(first, name):
        said = _said(first, names)
        if said:
            return math.prod(said)
    return 0


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
