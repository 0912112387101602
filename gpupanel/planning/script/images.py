"""How a script makes pixels of an image: by what training does it with."""

from string import Template
from typing import Literal

from gpupanel.planning.script.parts import definitions, part
from gpupanel.planning.script.sections import joined

_IMAGE = '''
from PIL import Image


def image(path):
    """The pixels of a file; of several frames the first."""
    with Image.open(path, formats=FORMATS) as opened:
        try:
            return image_pixels(opened, $size, $channels, white=$white)
        except UnknownRangeError as error:
            raise SystemExit(f"{path}: {error}. Which of them is white?")
'''


def image_function(
    size: tuple[int, int],
    color: Literal["rgb", "grayscale"],
    white: int | None = None,
    *,
    has_names: bool = False,
) -> str:
    """Python with the function ``image(path)``, which takes an open file, too.

    Args:
        size: Height and width of what it gives, in pixels.
        color: Whether that has three channels or one.
        white: The value of the files that is white; ``None``: the greatest of 8 or 16 bits.
        has_names: Images are found by their names, too: with ``SUFFIXES`` and what is hidden.
    """
    image = Template(_IMAGE).substitute(size=size, channels=3 if color == "rgb" else 1, white=white)
    names = ["IMAGE_SUFFIXES", "is_hidden", "suffix_of"] if has_names else []
    return joined(
        part("image_pixels"),
        definitions("image_names", "SUFFIXES_BY_READER", *names),
        part("image_formats", "FORMATS", *(["SUFFIXES"] if has_names else [])),
        image,
    )
