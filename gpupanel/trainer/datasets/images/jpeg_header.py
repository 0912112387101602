"""What the header of a JPEG says, where it is one of the usual kind, in some ten microseconds.

To have Pillow read it takes a tenth of what decoding a small image does. Whatever is unusual is
left to Pillow: this says less, and never anything else.
"""

import struct
from typing import NamedTuple

JPEG_BEGIN = b"\xff\xd8\xff"
_SCAN = 0xDA
_FRAMES = frozenset((0xC0, 0xC1, 0xC2))
"""Baseline, extended and progressive, of which every decoder knows all."""
_PLAIN = frozenset((0xC4, 0xDB, 0xDD, 0xFE, *range(0xE0, 0xF0)))
"""Tables, comments, and what applications add."""
_QUANTIZATION, _NUMBERS_A_TABLE = 0xDB, 64
_EXIF_SEGMENT, _EXIF = 0xE1, b"Exif\0\0"
_PICTURES_SEGMENT, _PICTURES = 0xE2, b"MPF\0"
_BYTE_ORDERS = {b"II*\0": "<", b"MM\0*": ">"}
_ORIENTATION, _SHORT, _UPRIGHT = 0x0112, 3, 1
_MOST_EXIF_ENTRIES = 512
_MOST_SEGMENTS = 1_000
"""A file that somebody made to be slow has millions."""
_BITS = 8
_FRAME_BYTES = 8


class JpegHeader(NamedTuple):
    """Of a JPEG that stands upright, with 8 bits a value, and with no other picture beside it.

    Attributes:
        width: In pixels.
        height: In pixels.
        components: 1: grey; 3: colours.
    """

    width: int
    height: int
    components: int


def usual_header(content: bytes) -> JpegHeader | None:
    """The header of a JPEG; ``None``: it is damaged, may be turned, or is unusual in any way.

    The segments are those of ITU-T T.81, section B.1.1; what is turned says so in EXIF 2.3, or in
    XMP, which is unusual here.

    Args:
        content: Of the file; all of it, or at least as far as the first scan.
    """
    if not content.startswith(JPEG_BEGIN):
        return None
    place, end, found = 2, len(content) - 4, None
    for _ in range(_MOST_SEGMENTS):
        if place >= end or content[place] != 0xFF:
            return None
        marker, body = content[place + 1], place + 4
        length = content[place + 2] << 8 | content[place + 3]
        if marker == _SCAN:
            return found if place + 2 + length <= len(content) else None
        if marker in _FRAMES:
            frame = None if found is not None else _frame(content, body, length)
            if frame is None:
                return None
            found = frame
        elif marker not in _PLAIN or length < 2:
            return None
        elif marker == _QUANTIZATION:
            if not _are_whole(content[body : place + 2 + length]):
                return None
        elif marker == _EXIF_SEGMENT:
            exif = content[body : place + 2 + length]
            if not exif.startswith(_EXIF) or not _is_upright(exif[len(_EXIF) :]):
                return None
        elif marker == _PICTURES_SEGMENT and content.startswith(_PICTURES, body):
            return None
        place += 2 + length
    return None


def _frame(content: bytes, body: int, length: int) -> JpegHeader | None:
    if body + 6 > len(content) or content[body] != _BITS:
        return None
    height, width = struct.unpack_from(">HH", content, body + 1)
    components = content[body + 5]
    is_whole = length == _FRAME_BYTES + 3 * components
    return JpegHeader(width, height, components) if width and height and is_whole else None


def _are_whole(tables: bytes) -> bool:
    """Whether tables of quantization end with the segment: of others Pillow opens no image."""
    place = 0
    while place < len(tables):
        place += 1 + _NUMBERS_A_TABLE * (2 if tables[place] >> 4 else 1)
    return place == len(tables)


def _is_upright(exif: bytes) -> bool:
    """Whether an image of these EXIF data surely is; they may say nothing of it."""
    order = _BYTE_ORDERS.get(exif[:4])
    if order is None:
        return False
    try:
        (first,) = struct.unpack_from(f"{order}I", exif, 4)
        (count,) = struct.unpack_from(f"{order}H", exif, first)
        if count > _MOST_EXIF_ENTRIES:
            return False
        for place in range(first + 2, first + 2 + 12 * count, 12):
            tag, kind, values = struct.unpack_from(f"{order}HHI", exif, place)
            if tag == _ORIENTATION:
                (turned,) = struct.unpack_from(f"{order}H", exif, place + 8)
                if (kind, values, turned) != (_SHORT, 1, _UPRIGHT):
                    return False
    except struct.error:
        return False
    return True
