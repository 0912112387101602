"""How encoded images become arrays: settings that several sources have."""

from typing import Annotated, Any, Literal

from pydantic import Field

from gpupanel.domain.choice import Choice
from gpupanel.domain.setting import setting
from gpupanel.domain.value import Value

GREATEST_SIDE = 16_384
"""Pixels: a square of it takes 3 GiB as the float32 that layers take in."""
ImageSide = Annotated[int, Field(gt=0, le=GREATEST_SIDE)]
ImageSize = tuple[ImageSide, ImageSide]
"""Height and width."""
Color = Literal["rgb", "grayscale"]


class PictureForm(Value):
    """How a picture in a file becomes an example of data that does not consist of such files.

    Attributes:
        size: Height and width.
        color: In colour or in greyscale.
        greatest: The number that is white; black is 0. Numbers are whole above 1.
        edges: How bright the edges of most training examples are, from 0 (black) to 1 (white): no
            darker, and no brighter. ``None``: nobody knows.
    """

    size: ImageSize
    color: Color
    greatest: float = 255.0
    edges: tuple[float, float] | None = None

    @property
    def channels(self) -> int:
        """Numbers a pixel."""
        return 3 if self.color == "rgb" else 1

    @property
    def words(self) -> str:
        """What a picture becomes: "8 x 8 grey, 0 to 16"."""
        height, width = self.size
        color = "colour" if self.color == "rgb" else "grey"
        return f"{height} \N{MULTIPLICATION SIGN} {width} {color}, 0 to {self.greatest:g}"

    @property
    def is_as_in_files(self) -> bool:
        """Whether its numbers are those of images in files, which a run reads, too."""
        return self.greatest == _WHITE_IN_FILES


LIGHT_ON_DARK = (0.0, 0.3)
"""The edges of examples that are light on a black ground, each of them."""
_WHITE_IN_FILES = 255.0


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
