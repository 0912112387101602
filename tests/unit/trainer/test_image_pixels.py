"""Every way in which an image may be stored becomes the pixels that people see; script alike."""

import io
import os
import struct
import zlib
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image

from gpupanel.domain.data import DataCache, ImagesData
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.planning.script.data_section import script_of
from gpupanel.planning.script.images import image_function
from gpupanel.trainer.datasets.images.files import ImageFiles
from gpupanel.trainer.exports.predict import features_of_image
from gpupanel.trainer.parts.image_pixels import WantedPixels

FIRST = np.array([0], np.int32)
RED, GREEN = (200, 10, 20), (20, 180, 40)


def read(path: Path, size: tuple[int, int] = (8, 8), channels: int = 3) -> npt.NDArray[np.uint8]:
    """The pixels as a run reads them, and as a script does."""
    files = ImageFiles((str(path),), WantedPixels(size, channels))
    pixels = files.read(FIRST)[0].astype(np.uint8)
    color = "rgb" if channels == 3 else "grayscale"
    data = ImagesData(path=str(path.parent), image_size=size, color=color, cache=DataCache.NONE)
    text, _, _ = script_of(data).read(data, needs_labels=True).partition("class Images")
    script: dict[str, object] = {"np": np}
    exec(text, script)
    image = script["image"]
    assert callable(image)
    assert np.array_equal(image(path), pixels)
    return pixels


def problem_of(path: Path) -> Problem:
    with pytest.raises(ProblemError) as caught:
        ImageFiles((str(path),), WantedPixels((8, 8), 3)).read(FIRST)
    (problem,) = caught.value.problems
    assert str(path) in problem.message
    return problem


def two_halves(mode: str = "RGB", side: int = 16) -> Image.Image:
    """Red above green."""
    image = Image.new("RGB", (side, side), GREEN)
    image.paste(RED, (0, 0, side, side // 2))
    return image.convert(mode)


def assert_two_halves(pixels: npt.NDArray[np.uint8], within: int = 6) -> None:
    assert np.abs(pixels[0, 0].astype(int) - RED).max() <= within
    assert np.abs(pixels[-1, -1].astype(int) - GREEN).max() <= within


@pytest.mark.parametrize(
    ("kind", "mode", "within"),
    [
        ("PNG", "RGB", 0),
        ("PNG", "RGBA", 0),
        ("PNG", "P", 40),
        ("BMP", "RGB", 0),
        ("GIF", "P", 40),
        ("WEBP", "RGB", 12),
        ("WEBP", "RGBA", 12),
        ("TIFF", "RGB", 0),
        ("TIFF", "CMYK", 2),
        ("JPEG", "RGB", 6),
        ("JPEG", "CMYK", 6),
        ("PPM", "RGB", 0),
    ],
)
def test_that_every_format_and_mode_is_read(
    tmp_path: Path, kind: str, mode: str, within: int
) -> None:
    path = tmp_path / "picture.png"  # what a name ends in does not decide it
    two_halves(mode).save(path, kind, **({"quality": 95} if kind in ("JPEG", "WEBP") else {}))
    assert_two_halves(read(path), within)
    assert read(path, channels=1).shape == (8, 8, 1)


@pytest.mark.parametrize("kind", ["PNG", "TIFF", "PPM"])
def test_that_16_bits_are_read_by_value(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "deep.png"
    deep = np.full((8, 8), 25_600, np.uint16)
    deep[4:] = 65_535
    if kind == "PPM":
        path.write_bytes(b"P5 8 8 65535\n" + deep.astype(">u2").tobytes())
    else:
        Image.fromarray(deep).save(path, kind)
    for channels in (1, 3):
        pixels = read(path, channels=channels)
        assert (int(pixels[0, 0, 0]), int(pixels[-1, -1, 0])) == (100, 255)


def test_that_16_bits_in_the_other_order_are_read_by_value(tmp_path: Path) -> None:
    path = tmp_path / "big_endian.tif"
    # Big-endian header, one strip of 2 x 1 pixels, 16 bits, black is zero.
    tags = [(256, 3, 2), (257, 3, 1), (258, 3, 16), (259, 3, 1), (262, 3, 1), (273, 4, 8)]
    tags += [(277, 3, 1), (278, 3, 1), (279, 4, 4)]
    entries = b"".join(
        struct.pack(">HHI", tag, kind, 1)
        + (struct.pack(">HH", value, 0) if kind == 3 else struct.pack(">I", value))
        for tag, kind, value in tags
    )
    pixels = struct.pack(">HH", 25_600, 51_200)
    ifd = struct.pack(">H", len(tags)) + entries + bytes(4)
    path.write_bytes(b"MM\0*" + struct.pack(">I", 12) + pixels + ifd)
    assert read(path, (1, 2), 1).ravel().tolist() == [100, 200]


def test_that_16_bits_in_colour_are_read_by_value(tmp_path: Path) -> None:
    def chunk(name: bytes, content: bytes) -> bytes:
        return (
            struct.pack(">I", len(content)) + name + content
            + struct.pack(">I", zlib.crc32(name + content))
        )  # fmt: skip

    path = tmp_path / "deep.png"
    row = b"\0" + struct.pack(">3H", 25_600, 51_200, 256) * 2
    path.write_bytes(
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", struct.pack(">IIBBBBB", 2, 2, 16, 2, 0, 0, 0))
        + chunk(b"IDAT", zlib.compress(row * 2))
        + chunk(b"IEND", b"")
    )
    assert read(path, (1, 1)).ravel().tolist() == [100, 200, 1]


@pytest.mark.parametrize("mode", ["I", "F"])
def test_that_numbers_of_unknown_range_are_refused(tmp_path: Path, mode: str) -> None:
    path = tmp_path / "numbers.tif"
    two_halves("L").convert(mode).save(path)
    problem = problem_of(path)
    assert problem.code == "data_image_unreadable"
    assert "8 or 16 bits" in problem.hint


def test_that_what_is_transparent_is_shown_on_white(tmp_path: Path) -> None:
    clear = two_halves("RGBA")
    clear.putalpha(0)
    half = two_halves("LA")
    half.putalpha(128)
    indexed = Image.new("P", (8, 8), 0)
    indexed.putpalette([9, 9, 9, 200, 0, 0])
    for image, options, least in (
        (clear, {}, 255),
        (half, {}, 127),
        (indexed, {"transparency": 0}, 255),
    ):
        image.save(tmp_path / "clear.png", **options)
        assert int(read(tmp_path / "clear.png").min()) >= least


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "TIFF"])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_that_a_image_is_upright(tmp_path: Path, kind: str, orientation: int) -> None:
    stored = Image.new("RGB", (64, 32), GREEN)
    # One corner is red: where it is to be seen says how the image was turned.
    stored.paste(RED, (0, 0, 32, 16))
    exif = Image.Exif()
    exif[0x0112] = orientation
    path = tmp_path / "turned"
    stored.save(path, kind, exif=exif)
    pixels = read(path, (4, 4))
    corners = {
        1: (0, 0),
        2: (0, 3),
        3: (3, 3),
        4: (3, 0),
        5: (0, 0),
        6: (0, 3),
        7: (3, 3),
        8: (3, 0),
    }
    corner = corners[orientation]
    is_red = pixels[..., 0] > 100
    assert is_red[corner]
    assert not is_red[3 - corner[0], 3 - corner[1]]


def test_that_the_first_frame_of_several_is_read(tmp_path: Path) -> None:
    frames = [Image.new("RGB", (8, 8), colour) for colour in (RED, GREEN)]
    for kind in ("GIF", "TIFF", "WEBP", "PNG", "MPO"):
        path = tmp_path / kind
        frames[0].save(path, kind, save_all=True, append_images=frames[1:])
        assert np.abs(read(path)[4, 4].astype(int) - RED).max() < 40


def test_that_a_large_photo_is_unpacked_small_and_looks_the_same(tmp_path: Path) -> None:
    path = tmp_path / "photo.jpg"
    random = np.random.default_rng(0).integers(0, 256, (12, 20, 3), np.uint8)
    photo = Image.fromarray(random).resize((1600, 960), Image.Resampling.BICUBIC)
    photo.save(path, quality=95)
    whole = photo.resize((80, 60), Image.Resampling.BILINEAR)
    difference = np.abs(read(path, (60, 80)).astype(int) - np.asarray(whole))
    assert difference.max() < 12
    assert difference.mean() < 1.5


def test_that_a_bomb_is_not_unpacked(tmp_path: Path) -> None:

    for name, size in (("bomb.png", 40_000), ("large.png", 9_500)):
        content = b"IHDR" + struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0)
        (tmp_path / name).write_bytes(
            b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + content
            + struct.pack(">I", zlib.crc32(content)) + bytes(4) + b"IDAT" + bytes(4)
        )  # fmt: skip
        with pytest.warns(Image.DecompressionBombWarning) if size < 10_000 else nullcontext():
            assert problem_of(tmp_path / name).code == "data_image_too_large"


def test_that_a_image_of_another_format_is_not_carried_out(tmp_path: Path) -> None:
    path = tmp_path / "program.png"
    buffer = io.BytesIO()
    two_halves().save(buffer, "EPS")
    path.write_bytes(buffer.getvalue())
    assert problem_of(path).code == "data_image_unreadable"


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "BMP", "GIF", "WEBP", "TIFF", "PPM"])
def test_that_a_image_that_is_cut_short_is_refused(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "short.png"
    noise = np.random.default_rng(0).integers(0, 256, (32, 32, 3), np.uint8)
    Image.fromarray(noise).convert("P" if kind == "GIF" else "RGB").save(path, kind)
    for part in (0.5, 0.01, 0.0):
        os.truncate(path, int(path.stat().st_size * part))
        assert problem_of(path).code == "data_image_unreadable"


def test_that_a_fifo_a_folder_and_a_link_in_a_circle_are_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo.jpg")
    (tmp_path / "folder.jpg").mkdir()
    (tmp_path / "circle.jpg").symlink_to("circle.jpg")
    for name, words in (("fifo", "FIFO"), ("folder", "a folder"), ("circle", "cannot be read")):
        problem = problem_of(tmp_path / f"{name}.jpg")
        assert problem.code == "data_image_unreadable"
        assert words in problem.message


def test_that_nothing_is_logged_of_a_image_beside_the_problem(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "many.tif"
    buffer = io.BytesIO()
    Image.new("RGB", (4, 4)).save(buffer, "TIFF")
    content = bytearray(buffer.getvalue())
    tag = content.index(struct.pack("<HHI", 277, 3, 1))  # samples a pixel
    content[tag + 8 : tag + 10] = struct.pack("<H", 99)
    path.write_bytes(content)
    assert problem_of(path).code == "data_image_unreadable"
    assert caplog.records == []


@pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning")
def test_that_script_and_predict_py_unpack_no_image_that_a_run_does_not(tmp_path: Path) -> None:
    path = tmp_path / "large.png"
    Image.new("1", (10_000, 9_000)).save(path)
    made: dict[str, Any] = {"np": np}
    exec(image_function((8, 8), "rgb"), made)
    with pytest.raises(made["TooManyPixelsError"], match="10,000 x 9,000 pixels"):
        made["image"](path)
    wanted = {"height": 8, "width": 8, "channels": 3, "greatest": 255.0}
    with pytest.raises(SystemExit, match="is larger than 89,478,485 pixels"):
        features_of_image(path, wanted)
