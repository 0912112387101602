"""How large images are in their files, before they are scaled, and which values they have."""

import statistics
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TypeVar

import numpy as np
from PIL import Image
from PIL.ImageFile import ImageFile

from gpupanel.domain.problem import Fix, Problem, ProblemError, Severity
from gpupanel.files.regular_files import open_regular
from gpupanel.trainer.datasets.images.files import WHITE_FIELD, ImageFiles, image_errors
from gpupanel.trainer.parts.image_formats import FORMATS
from gpupanel.trainer.parts.image_pixels import is_deep

_OPAQUE = 255
_MUCH_SEEN_THROUGH = 0.5
_READ = 64
"""Images whose headers are read to estimate the common size."""
_UNPACKED = 16
"""Images that are decoded to find the greatest value."""
_MOST_PIXELS = 2**24
_WHITE_OF_8_BITS = 255
_DARK = {16: 2**14 - 1, 8: 2**4 - 1}
"""Values of so many bits are all below this in no set of images by chance."""
Found = TypeVar("Found")


def median_size(files: ImageFiles, seed: int) -> tuple[int, int] | None:
    """Height and width in the middle of some images; ``None``: none of these can be read.

    Args:
        files: Only the heads of some are read, and no pixel is decoded.
        seed: Chooses them.
    """
    found = list(_of_some(files, _READ, seed, lambda image: (image.height, image.width)))
    if not found:
        return None
    heights, widths = zip(*found, strict=True)
    return round(statistics.median(heights)), round(statistics.median(widths))


def value_notes(files: ImageFiles, seed: int, most: int = _UNPACKED) -> tuple[Problem, ...]:
    """What is odd about the values in some images: nobody means to train on nearly black ones.

    Args:
        files: Some are unpacked; very large ones are passed over.
        seed: Chooses them.
        most: So many are.
    """
    darks = _Darks(looks_for_dark=files.wanted.white is None)
    for _ in _of_some(files, most, seed, darks.look):
        if darks.are_bright:
            break  # unpacking others takes long
    values = darks.values()
    if values is None:
        return ()
    is_chosen = files.wanted.white is not None
    note = _white_note(values, files) if is_chosen else _dark_note(values, files.key)
    return () if note is None else (note,)


def dark_notes(images: Iterable[bytes], key: str) -> tuple[Problem, ...]:
    """A warning where images use a small part of their range, and nothing says what is white.

    Args:
        images: Encoded; those that are none are passed over.
        key: The setting that names them.
    """
    darks = _Darks(looks_for_dark=True)
    for value in images:
        with suppress(Exception), Image.open(BytesIO(value), formats=FORMATS) as image:
            darks.look(image)
    values = darks.values()
    note = None if values is None else _dark_note(values, key, can_be_said=False)
    return () if note is None else (note,)


def content_notes(files: ImageFiles, seed: int) -> Iterator[Problem]:
    """Hints where images hold more than is read: transparency, and frames after the first.

    Args:
        files: Only those that have transparency are unpacked.
        seed: Chooses some.
    """
    contents = list(_of_some(files, _UNPACKED, seed, _content))
    transparent = [each.see_through for each in contents if each.see_through]
    if transparent:
        part = sum(transparent) / len(transparent)
        yield Problem(
            code="images_see_through",
            severity=Severity.WARNING if part > _MUCH_SEEN_THROUGH else Severity.HINT,
            field=files.key,
            message=f"{len(transparent):,} of {len(contents):,} images that were opened are "
            f"transparent, in {part:.0%} of their pixels: white is taken for what is behind them.",
            hint="Nothing, if that is meant. Where their fourth channel is something else, such as "
            "near infrared, save them with three.",
        )
    frames = [each.frames for each in contents if each.frames > 1]
    if frames:
        yield Problem(
            code="images_of_several_frames",
            severity=Severity.WARNING if 2 * len(frames) > len(contents) else Severity.HINT,
            field=files.key,
            message=f"{len(frames):,} of {len(contents):,} images that were opened have several "
            f"frames or pages, up to {max(frames):,}: the first of each is read, and no other.",
            hint="Nothing, if that is meant; else save each frame as an image of its own.",
        )


@dataclass(frozen=True, slots=True)
class _Content:
    """What an image holds beside the colours of its first frame.

    Attributes:
        see_through: The part of it that is not opaque.
        frames: How many it has.
    """

    see_through: float
    frames: int


def _content(image: Image.Image) -> _Content:
    frames = int(getattr(image, "n_frames", 1))
    if not image.has_transparency_data or image.width * image.height > _MOST_PIXELS:
        return _Content(0.0, frames)
    alpha = np.asarray(image.convert("RGBA").getchannel("A"))
    return _Content(float((alpha < _OPAQUE).mean()) if alpha.size else 0.0, frames)


class _Darks:
    """Finds out whether images use a small part of the range of their values.

    Attributes:
        are_bright: One of them does not, and nothing else can be found.
    """

    def __init__(self, *, looks_for_dark: bool) -> None:
        self.are_bright = False
        self._looks_for_dark = looks_for_dark
        self._found: list[_Values] = []
        self._bright: set[int] = set()

    def look(self, image: Image.Image) -> None:
        """Take one into account; one of 8 bits is not unpacked where another one was bright."""
        if 8 in self._bright and not _has_16_bits(image):
            return
        each = _values(image)
        if each is None:
            return
        if self._looks_for_dark and each.greatest > _DARK[each.bits]:
            self._bright.add(each.bits)
            self.are_bright = 16 in self._bright
        else:
            self._found.append(each)

    def values(self) -> "_Values | None":
        """The greatest of the values; ``None``: there are no such, or they differ in kind."""
        found = self._found
        if self._looks_for_dark and 8 in self._bright:
            found = [each for each in found if each.bits == 16]  # of another camera
        if self.are_bright or len({(each.bits, each.is_cut) for each in found}) != 1:
            return None
        return max(found, key=lambda each: each.greatest)


@dataclass(frozen=True, slots=True)
class _Values:
    """The values of an image.

    Attributes:
        bits: Of each: 8 or 16.
        greatest: Of them.
        is_cut: Of 16 bits only the upper 8 are read, as Pillow reads colour images.
    """

    bits: int
    greatest: int
    is_cut: bool = False


def _values(image: Image.Image) -> _Values | None:
    """The values of an image; ``None``: it is too large, or has values of 32 bits."""
    if image.width * image.height > _MOST_PIXELS:
        return None
    if is_deep(image):
        return _Values(16, int(np.asarray(image).max(initial=0)))
    if image.mode in ("I", "F"):
        return None
    is_cut = _is_cut(image)
    pixels = np.asarray(image.convert("RGB"))
    # One of one colour shows nothing of the range.
    greatest = int(pixels.max(initial=0)) if pixels.min(initial=255) < pixels.max(initial=0) else 0
    return _Values(16, greatest << 8 | 0xFF, is_cut) if is_cut else _Values(8, greatest)


def _has_16_bits(image: Image.Image) -> bool:
    return is_deep(image) or _is_cut(image)


def _is_cut(image: Image.Image) -> bool:
    """Whether only the upper 8 of 16 bits are read; nothing says it once it is unpacked."""
    return isinstance(image, ImageFile) and any(";16" in str(tile.args) for tile in image.tile)


def _dark_note(values: _Values, key: str, *, can_be_said: bool = True) -> Problem | None:
    """A note on images that use a small part of their range, such as 12 of 16 bits."""
    if not 0 < values.greatest <= _DARK[values.bits]:
        return None
    white = 2 ** values.greatest.bit_length() - 1
    lost = "They are read as they are, nearly black."
    if values.bits == 16:
        levels = (values.greatest >> 8) + 1
        lost = f"The upper 8 of 16 are taken, so that {levels} grey levels remain, nearly black."
    hint, fix = "Say that this is white, or save them again with the whole range.", None
    if values.is_cut:
        hint = "Save them again as colour images of 8 bits: nothing here reads more of these."
    elif not can_be_said:
        hint = "Save them again with the whole range."
    else:
        fix = Fix.of(f"Take {white:,} as white", WHITE_FIELD, white)
    return Problem(
        code="images_dark",
        severity=Severity.WARNING,
        field=key,
        message=f"The images have {values.bits} bits a value, but no value of some of them is "
        f"above {values.greatest:,}: {values.greatest.bit_length()} bits are used. {lost}",
        hint=hint,
        fix=fix,
    )


def _white_note(values: _Values, files: ImageFiles) -> Problem | None:
    """A note on a white value that the images do not reach, or exceed."""
    white = files.wanted.white or 0
    is_unused = values.is_cut or (values.bits == 8 and white > _WHITE_OF_8_BITS)
    if not is_unused and values.greatest <= white:
        return None
    why = f"values of some images go up to {values.greatest:,}: all above are white, too"
    if is_unused:
        why = "the images have 8 bits a value, or are read so: it changes nothing"
    return Problem(
        code="white_value_misfit",
        severity=Severity.WARNING,
        field=WHITE_FIELD,
        message=f"data.white_value is {white:,}, but {why}.",
        hint="Choose another white value, or the automatic one.",
        fix=Fix.of("Use the automatic white value", WHITE_FIELD),
    )


def _of_some(
    files: ImageFiles, most: int, seed: int, look: Callable[[Image.Image], Found]
) -> Iterator[Found]:
    """What is found in some of the images, each open meanwhile, one after the other.

    What cannot be read is left out: whoever reads all of it says why.
    """
    count = min(most, len(files.paths))
    drawn = np.random.default_rng(seed).choice(len(files.paths), count, replace=False)
    for place in drawn.tolist():
        path = files.paths[place]
        with (
            suppress(ProblemError),
            image_errors(path, files.key),
            open_regular(Path(path)) as file,
            Image.open(file, formats=FORMATS) as image,
        ):
            yield look(image)
