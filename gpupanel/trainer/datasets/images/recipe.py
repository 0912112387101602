"""How the images were read that a model learned from, as its file keeps it."""

from contextlib import suppress
from typing import Literal

from pydantic import ValidationError

from gpupanel.domain.data import ImagesData
from gpupanel.domain.images_data import JpegDecoding
from gpupanel.domain.problem import Fix, ProblemError
from gpupanel.domain.table_data import ColumnNames
from gpupanel.domain.value import Value
from gpupanel.trainer.datasets.data_problems import data_problem
from gpupanel.trainer.datasets.images.csv_lines import quoted
from gpupanel.trainer.parts.image_pixels import WantedPixels


class ImageRecipe(Value):
    """What the file of an image does not say.

    Attributes:
        white_value: The value that is white, as ``data.white_value``.
        decode: How JPEGs are unpacked, as ``data.decode``.
        numbers: The columns beside the images that are an input, as ``data.numbers``: the place of
            each is that of what was learned of it.
    """

    schema_version: Literal[1] = 1
    white_value: int | None = None
    decode: JpegDecoding | None = None
    numbers: ColumnNames | None = None


def wanted_pixels(data: ImagesData) -> WantedPixels:
    """What is made of each image."""
    return WantedPixels(
        data.image_size,
        data.chosen_shape[-1],
        data.white_value,
        is_fast=data.decode is JpegDecoding.FAST,
    )


def trained_choices(data: ImagesData) -> dict[str, int | str]:
    """What defines the pixels beside the files, by the names of the settings; most often nothing.

    Args:
        data: As it is trained with, or as :func:`read_as_trained` gives it.
    """
    chosen: dict[str, int | str] = {}
    if data.white_value is not None:
        chosen["white_value"] = data.white_value
    if data.decode is JpegDecoding.FAST:
        chosen["decode"] = data.decode.value
    return chosen


def recipe_of(data: ImagesData) -> str:
    """The recipe that a model's file stores; empty if the files alone define the pixels."""
    chosen: dict[str, object] = {**trained_choices(data)}
    if data.numbers:
        chosen["numbers"] = data.numbers
    return ImageRecipe.model_validate(chosen).model_dump_json(exclude_none=True) if chosen else ""


def image_recipe_in(recipe: str) -> ImageRecipe:
    """How images were read in training; by nothing but their files, where nobody says otherwise.

    Args:
        recipe: Of a model's file, whose model may have learned from something else.
    """
    with suppress(ValidationError):
        return ImageRecipe.model_validate_json(recipe)
    return ImageRecipe()


def read_as_trained(data: ImagesData, recipe: str) -> ImagesData:
    """The settings, with those of the model where none were chosen.

    Args:
        data: Which images.
        recipe: Of the model's file; empty: there is none.

    Raises:
        ProblemError: Other numbers are chosen beside the images than those that it learned from.
    """
    known = image_recipe_in(recipe)
    if data.numbers and known.numbers and {*data.numbers} != {*known.numbers}:
        raise _other_numbers(data.numbers, known.numbers)
    return data.model_copy(
        update={
            "white_value": known.white_value if data.white_value is None else data.white_value,
            "decode": data.decode or known.decode,
            # In another order they would be other numbers.
            "numbers": known.numbers or data.numbers,
        }
    )


def _other_numbers(chosen: ColumnNames, known: ColumnNames) -> ProblemError:
    return data_problem(
        "image_numbers_misfit",
        f"The saved model learned from the numbers {quoted(known, 20)} beside the images, and "
        f"data.numbers names {quoted(chosen, 20)}.",
        "Name the same columns; where the CSV calls them otherwise, name them there as they were.",
        field="data.numbers",
        fix=Fix.of("Take the columns of the model", "data.numbers", list(known)),
    )
