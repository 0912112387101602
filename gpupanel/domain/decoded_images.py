"""How encoded images become arrays: settings that several sources have."""

from typing import Annotated, Any, Literal

from pydantic import Field

from gpupanel.domain.choice import Choice
from gpupanel.domain.setting import setting

GREATEST_SIDE = 16_384
"""Pixels: a square of it takes 3 GiB as the float32 that layers take in."""
ImageSide = Annotated[int, Field(gt=0, le=GREATEST_SIDE)]
ImageSize = tuple[ImageSide, ImageSide]
"""Height and width."""
Color = Literal["rgb", "grayscale"]


def image_size_setting(image: str = "image") -> Any:  # noqa: ANN401 - as pydantic's
    """The declaration of ``image_size``.

    Args:
        image: What is scaled, in the singular.
    """
    return setting(
        "Image size",
        f"Every {image} is scaled to this height and width, in pixels. Larger ones show more and "
        "cost more memory and time.",
        default=(64, 64),
        unit="pixel",
    )


def color_setting(images: str = "images") -> Any:  # noqa: ANN401
    """The declaration of ``color``.

    Args:
        images: What is read, in the plural.
    """
    return setting(
        "Colour",
        f"Whether {images} are read in colour or in greyscale.",
        default="rgb",
        choices=(
            Choice("rgb", "Colour (RGB)", "Three channels: red, green, blue."),
            Choice(
                "grayscale",
                "Greyscale",
                "One channel; less to compute where colour does not matter.",
            ),
        ),
    )
