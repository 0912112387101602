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
            return image_pixels(opened, $wanted)
        except UnknownRangeError as error:
            raise SystemExit(f"{path}: {error}. Which of them is white?")
'''


def image_function(
    size: tuple[int, int],
    color: Literal["rgb", "grayscale"],
    white: int | None = None,
    *,
    is_fast: bool = False,
    has_names: bool = False,
) -> str:
    """Python with the function ``image(path)``, which takes an open file, too.

    Args:
        size: Height and width of what it gives, in pixels.
        color: Whether that has three channels or one.
        white: The value of the files that is white; ``None``: the greatest of 8 or 16 bits.
        is_fast: As training takes it of ``data.decode``.
        has_names: Images are found by their names, too: with ``SUFFIXES`` and what is hidden.
    """
    chosen = [f"{size}", "3" if color == "rgb" else "1"]
    chosen += [] if white is None else [f"white={white}"]
    chosen += ["is_fast=True"] if is_fast else []
    image = Template(_IMAGE).substitute(wanted=f"WantedPixels({', '.join(chosen)})")
    names = ["IMAGE_SUFFIXES", "is_hidden", "suffix_of"] if has_names else []
    return joined(
        part("image_pixels"),
        definitions("image_names", "SUFFIXES_BY_READER", *names),
        part("image_formats", "FORMATS", *(["SUFFIXES"] if has_names else [])),
        image,
    )
