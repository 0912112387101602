"""What is read of a JPEG's header without Pillow is what Pillow reads, or nothing."""

import io
import os
import struct
import warnings
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageCms

from gpupanel.files.regular_files import NotRegularFileError, read_beginning_with
from gpupanel.trainer.datasets.images.jpeg_header import JPEG_BEGIN, JpegHeader, usual_header
from gpupanel.trainer.datasets.images.pixels import (
    PlainJpeg,
    plain_jpeg_or_pixels_of,
    usual_jpeg_of,
)
from gpupanel.trainer.parts.image_pixels import WantedPixels

SIZE = (48, 60)
ORIENTATION = 0x0112


def photo(width: int = 101, height: int = 79) -> Image.Image:
    pixels = np.random.default_rng(width).integers(0, 256, (height, width, 3), np.uint8)
    return Image.fromarray(pixels)


def jpeg(image: Image.Image, kind: str = "JPEG", **settings: object) -> bytes:
    content = io.BytesIO()
    image.save(content, kind, **settings)
    return content.getvalue()


def with_orientation(turned: int) -> Image.Exif:
    exif = Image.Exif()
    exif[0x010F] = "A maker of cameras"
    exif[ORIENTATION] = turned
    return exif


def segment(marker: int, body: bytes) -> bytes:
    return bytes((0xFF, marker)) + struct.pack(">H", len(body) + 2) + body


def with_segment(marker: int, body: bytes, content: bytes) -> bytes:
    """The JPEG with a segment more, before all others."""
    return content[:2] + segment(marker, body) + content[2:]


def exif_of(order: str, entries: list[tuple[int, int, int, int]]) -> bytes:
    """EXIF data of these entries: tag, kind, count and value."""
    letters = b"II*\0" if order == "<" else b"MM\0*"
    body = struct.pack(f"{order}IH", 8, len(entries))
    for tag, kind, count, value in entries:
        body += struct.pack(f"{order}HHIHH", tag, kind, count, value, 0)
    return b"Exif\0\0" + letters + body + bytes(4)


XMP = b'http://ns.adobe.com/xap/1.0/\0<x:xmpmeta tiff:Orientation="6"/>'
SMALL = jpeg(photo())
PROFILE = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
USUAL = {
    "plain": SMALL,
    "progressive": jpeg(photo(), progressive=True),
    "grey": jpeg(photo().convert("L")),
    "with a profile": jpeg(photo(), icc_profile=PROFILE),
    "with a comment": jpeg(photo(), comment=b"Taken in autumn"),
    "with restarts": jpeg(photo(), restart_marker_rows=1),
    "large": jpeg(photo(403, 299)),
    "upright": jpeg(photo(), exif=with_orientation(1)),
    "upright, big end first": with_segment(0xE1, exif_of(">", [(ORIENTATION, 3, 1, 1)]), SMALL),
    "EXIF without a word of it": with_segment(0xE1, exif_of("<", [(0x0110, 3, 1, 6)]), SMALL),
    "Adobe's": with_segment(0xEE, b"Adobe\0d\0\0\0\0\1", SMALL),
}
UNUSUAL = {
    **{f"turned {turned}": jpeg(photo(), exif=with_orientation(turned)) for turned in range(2, 9)},
    "turned where said again": with_segment(
        0xE1, exif_of("<", [(ORIENTATION, 3, 1, 1), (ORIENTATION, 3, 1, 6)]), SMALL
    ),
    "turned by a long number": with_segment(0xE1, exif_of("<", [(ORIENTATION, 4, 1, 6)]), SMALL),
    # Whoever reads them takes two such segments for one.
    "turned by a second segment": with_segment(
        0xE1,
        b"Exif\0\0II*\0" + struct.pack("<I", 8),
        with_segment(
            0xE1, b"Exif\0\0" + struct.pack("<HHHIHHI", 1, ORIENTATION, 3, 1, 6, 0, 0), SMALL
        ),
    ),
    "a table of quantization that is cut": SMALL.replace(
        b"\xff\xdb\x00\x43\x00", b"\xff\xdb\x00\x43\x10"
    ),
    "turned by XMP": with_segment(0xE1, XMP, SMALL),
    "EXIF that ends nowhere": with_segment(0xE1, b"Exif\0\0II*\0\xff\xff\xff\xff", SMALL),
    "four colours": jpeg(photo().convert("CMYK")),
    "two pictures": jpeg(photo(), "MPO", save_all=True, append_images=[photo(40, 40)]),
    "fill bytes": SMALL[:2] + b"\xff\xff" + SMALL[2:],
    "no header": JPEG_BEGIN + b" no picture",
    "PNG": jpeg(photo(), "PNG"),
    "nothing": b"",
    "12 bits": SMALL.replace(b"\xff\xc0\x00\x11\x08", b"\xff\xc0\x00\x11\x0c"),
    "a height that comes later": SMALL.replace(
        b"\x00\x11\x08" + struct.pack(">H", 79), b"\x00\x11\x08\0\0"
    ),
    "segments without end": SMALL[:2] + segment(0xFE, b"") * 2_000 + SMALL[2:],
    "cut in its header": SMALL[:100],
}


def by_pillow(path: Path, wanted: WantedPixels) -> PlainJpeg | None:
    try:
        with warnings.catch_warnings(), path.open("rb") as file:
            warnings.simplefilter("ignore")  # Pillow warns of EXIF data that are cut
            found = plain_jpeg_or_pixels_of(file, wanted)
    except Exception:  # noqa: BLE001 - whatever damaged bytes make of it
        return None
    return found if isinstance(found, PlainJpeg) else None


def agree(path: Path, content: bytes) -> list[bool]:
    """Whether each usual JPEG is what Pillow takes it for, too; of each way to read it."""
    path.write_bytes(content)
    found = []
    for size in (SIZE, (16, 16), (224, 200)):
        for channels in (1, 3):
            wanted = WantedPixels(size, channels)
            read = usual_jpeg_of(str(path), wanted)
            if read is not None:
                assert read == by_pillow(path, wanted)
            found.append(read is not None)
    return found


@pytest.mark.parametrize("name", USUAL)
def test_that_the_usual_header_is_read_as_pillow_reads_it(name: str, tmp_path: Path) -> None:
    assert any(agree(tmp_path / "picture", USUAL[name]))


@pytest.mark.parametrize("name", UNUSUAL)
def test_that_what_is_unusual_is_left_to_pillow(name: str, tmp_path: Path) -> None:
    assert not any(agree(tmp_path / "picture", UNUSUAL[name]))


def test_that_no_damage_makes_it_another_picture_than_pillow_sees(tmp_path: Path) -> None:
    random, path = np.random.default_rng(5), tmp_path / "picture"
    taken = 0
    for number in range(1_200):
        content = bytearray(list(USUAL.values())[number % len(USUAL)])
        for _ in range(random.integers(1, 4)):
            content[random.integers(0, 700)] = random.integers(0, 256)
        taken += any(agree(path, bytes(content[: random.integers(400, len(content))])))
    assert taken > 100


def test_that_sizes_and_colours_are_those_of_the_file() -> None:
    assert usual_header(SMALL) == JpegHeader(101, 79, 3)
    assert usual_header(USUAL["grey"]) == JpegHeader(101, 79, 1)


def test_that_what_is_darkened_is_left_to_pillow(tmp_path: Path) -> None:
    path = tmp_path / "picture"
    path.write_bytes(SMALL)
    assert usual_jpeg_of(str(path), WantedPixels(SIZE, 3, white=255)) is not None
    assert usual_jpeg_of(str(path), WantedPixels(SIZE, 3, white=100)) is None


def test_that_only_what_begins_so_is_read_and_no_more_of_it(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"abc" * 100)
    assert read_beginning_with(b"ab", str(path), 300) == b"abc" * 100
    assert read_beginning_with(b"ab", str(path), 299) is None
    assert read_beginning_with(b"b", str(path), 300) is None
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(NotRegularFileError):
        read_beginning_with(b"a", str(tmp_path / "fifo"), 300)
    with pytest.raises(FileNotFoundError):
        read_beginning_with(b"a", str(tmp_path / "none"), 300)
    assert usual_jpeg_of(str(tmp_path / "fifo"), WantedPixels(SIZE, 3)) is None
