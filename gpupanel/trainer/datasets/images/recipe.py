"""How the images were read that a model learned from, as its file keeps it."""

from contextlib import suppress
from typing import Literal

from pydantic import ValidationError

from gpupanel.domain.data import ImagesData
from gpupanel.domain.value import Value


class ImageRecipe(Value):
    """What the file of an image does not say.

    Attributes:
        white_value: The value that is white, as ``data.white_value``.
    """

    schema_version: Literal[1] = 1
    white_value: int


def recipe_of(data: ImagesData) -> str:
    """The recipe that a model's file stores; empty if the files alone define the pixels."""
    white = data.white_value
    return "" if white is None else ImageRecipe(white_value=white).model_dump_json()


def white_value_in(recipe: str) -> int | None:
    """The value that was white in training; ``None``: the greatest that 8 or 16 bits have.

    Args:
        recipe: Of a model's file, whose model may have learned from something else.
    """
    with suppress(ValidationError):
        return ImageRecipe.model_validate_json(recipe).white_value
    return None


def read_as_trained(data: ImagesData, recipe: str) -> ImagesData:
    """The settings, with the white value of the model where none was chosen.

    Args:
        data: Which images.
        recipe: Of the model's file; empty: there is none.
    """
    white = white_value_in(recipe) if data.white_value is None else None
    return data if white is None else data.model_copy(update={"white_value": white})
