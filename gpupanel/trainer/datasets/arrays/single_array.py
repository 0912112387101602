"""An example of numbers that a person gives: in a ``.npy`` file, or a picture.

Of a picture it must be certain which number is black and which is white. Where the source declares
it, it is; of arrays the examples have to be pictures by their shape, and the numbers of the
training have to go from 0 to 255 or from 0 to 1, as the model's file says.
"""

from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from typing_extensions import override

from gpupanel.domain.data import NpzData
from gpupanel.domain.data_source import DataSource
from gpupanel.domain.decoded_images import GREATEST_SIDE, PictureForm
from gpupanel.domain.number_text import number_range, short_number
from gpupanel.domain.problem import Problem, ProblemError, Severity
from gpupanel.domain.visible_text import as_utf8, visible_line
from gpupanel.files.regular_files import open_regular
from gpupanel.trainer.datasets.arrays.npy_examples import NPY, read_npy_example
from gpupanel.trainer.datasets.images.files import image_errors
from gpupanel.trainer.datasets.images.pixels import pixels_of
from gpupanel.trainer.datasets.single_data import (
    AskedFiles,
    AskedModel,
    SingleData,
    example_refused,
)
from gpupanel.trainer.datasets.source import Source
from gpupanel.trainer.parts.image_edges import edge_means, is_ground_unlike
from gpupanel.trainer.parts.image_pixels import WantedPixels

if TYPE_CHECKING:
    from gpupanel.domain.asked_prediction import PredictionAsked

_FILE = "example.npy"
_WHITE = 255.0
_ROOM = 0.1
"""The least and greatest number of a training may be so far inside of a whole range."""
_LEAST_SIDE, _MOST_ELONGATED = 8, 4
"""Rows of numbers of other shapes may be measurements over time, and no pictures."""
_TAKES_ARRAYS = "A .npy file of one example or several is given to the model as it is."

Settings = TypeVar("Settings", bound=DataSource, contravariant=True)


class ArraySource(Source[Settings]):
    """A source whose examples are numbers: a person gives a ``.npy`` file, or a picture."""

    @override
    def single(
        self, data: Settings, asked: "PredictionAsked", model: AskedModel, folder: Path
    ) -> SingleData:
        if asked.row is not None or asked.text is not None:
            raise ProblemError(
                example_refused("The model takes numbers.", "Give it a .npy file of examples.")
            )
        place = folder / _FILE
        found = SingleData(NpzData(path=str(place), features=place.stem))
        if asked.wants == "inputs":
            sides = (8 if side is None else side for side in model.input_shape or ())
            np.save(place, np.zeros((1, *sides), np.float32))
            return found
        if not asked.file:
            raise ProblemError(
                example_refused("The model takes numbers.", "Give it a .npy file of examples.")
            )
        if asked.file.lower().endswith(NPY):
            return _given_array(found, data, asked, model, place)
        return _given_picture(found, data, asked, model, place)

    @override
    def asked_files(self, data: Settings, model: AskedModel) -> AskedFiles:
        form = picture_form(data, model)
        if isinstance(form, str):
            return AskedFiles(f"No pictures: {form} {_TAKES_ARRAYS}", are_pictures=False)
        return AskedFiles(f"A picture becomes {form.words}. {_TAKES_ARRAYS}")


def picture_form(data: DataSource, model: AskedModel) -> PictureForm | str:
    """What becomes of a picture; or a sentence that says why it must not become anything.

    Args:
        data: What the model learned from.
        model: What its file says.
    """
    if data.picture is not None:
        return data.picture
    shape, between = model.input_shape, model.value_range
    if shape is None or None in shape:
        return "the model's file does not say which shape its examples have."
    if len(shape) == 1:
        return f"its examples are rows of {shape[0]:,} numbers."
    height, width, channels = (*map(int, filter(None, shape)), 1, 1, 1)[:3]
    is_picture = (
        len(shape) in (2, 3)
        and (len(shape) == 2 or channels in (1, 3))
        and min(height, width) >= _LEAST_SIDE
        and max(height, width) <= min(GREATEST_SIDE, _MOST_ELONGATED * min(height, width))
    )
    if not is_picture:
        return f"examples of the shape {_shape_words(shape)} need not be any."
    if between is None:
        return "the model's file does not say between which numbers those of its training lie."
    greatest = next((each for each in (_WHITE, 1.0) if _fills(between, each)), None)
    if greatest is None:
        return (
            f"the numbers of the training go from {number_range(*between)}, and nobody knows "
            "which of them is black and which is white."
        )
    return PictureForm(
        size=(height, width),
        color="rgb" if channels == 3 else "grayscale",
        greatest=greatest,
        edges=model.edges,
    )


def _fills(between: tuple[float, float], greatest: float) -> bool:
    least, most = between
    room = _ROOM * greatest
    return 0.0 <= least <= room and greatest - room <= most <= greatest


def _given_picture(
    found: SingleData, data: DataSource, asked: "PredictionAsked", model: AskedModel, place: Path
) -> SingleData:
    form = picture_form(data, model)
    if isinstance(form, str):
        raise ProblemError(
            example_refused(
                f"A picture cannot be given to this model: {form}",
                "Give it a .npy file of examples.",
            )
        )
    with image_errors(asked.file, ""), open_regular(Path(asked.file)) as file:
        pixels = pixels_of(file, WantedPixels(form.size, form.channels))
    made, swapped = [form.words], None
    if form.channels == 1:
        edge = float(edge_means(pixels[np.newaxis])[0]) / _WHITE
        swapped = is_ground_unlike(edge, form.edges) if asked.swap is None else asked.swap
        made += _swap_words(edge, form.edges, is_swapped=swapped)
        pixels = np.invert(pixels) if swapped else pixels
    numbers = pixels * (form.greatest / _WHITE)
    is_whole = form.greatest > 1.0
    np.save(place, [np.rint(numbers).astype(np.uint8) if is_whole else numbers])
    return SingleData(
        data=found.data,
        made=", ".join(made),
        is_swapped=swapped,
        shown_between=(0.0, form.greatest),
    )


def _swap_words(edge: float, edges: tuple[float, float] | None, *, is_swapped: bool) -> list[str]:
    """What is said of light and dark; nothing where they are as those of the training."""
    here, there = ("bright", "dark") if edge >= 0.5 else ("dark", "bright")
    if not is_ground_unlike(edge, edges):
        return ["light and dark swapped"] if is_swapped else []
    why = f"its edge is {here}, and those of the training are {there}"
    return [f"light and dark swapped: {why}" if is_swapped else f"not swapped, though {why}"]


def _given_array(
    found: SingleData, data: DataSource, asked: "PredictionAsked", model: AskedModel, place: Path
) -> SingleData:
    path, picture = Path(asked.file), data.picture
    example, count = read_npy_example(path, asked.place, data.chosen_axes, model.input_shape)
    np.save(place, example)
    least, greatest = float(example.min()), float(example.max())
    return SingleData(
        data=found.data,
        made=f"numbers from {number_range(least, greatest)}, unchanged",
        count=count,
        shown_between=model.value_range or (None if picture is None else (0.0, picture.greatest)),
        notes=_beyond(path, (least, greatest), model.value_range),
    )


def _beyond(
    path: Path, between: tuple[float, float], trained: tuple[float, float] | None
) -> tuple[Problem, ...]:
    """A warning where numbers go further than those that were learned from."""
    if trained is None:
        return ()
    least, greatest = trained
    room = _ROOM * (greatest - least)
    if between[0] >= least - room and between[1] <= greatest + room:
        return ()
    beyond = max(between, key=lambda each: max(least - each, each - greatest))
    name = visible_line(as_utf8(path.name))
    return (
        Problem(
            code="example_beyond_training",
            severity=Severity.WARNING,
            message=f"{name} holds {short_number(beyond)}, and the numbers of the training go from "
            f"{number_range(*trained)}: what the model says of it may mean nothing.",
            hint="Scale it as the training data was scaled.",
        ),
    )


def _shape_words(shape: tuple[int | None, ...]) -> str:
    return " \N{MULTIPLICATION SIGN} ".join(map(str, shape)) or "a number"
