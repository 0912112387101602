"""TensorFlow decodes JPEGs to the very pixels that Pillow and NumPy give, and nothing but these."""

import io
import json
import os
import struct
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from gpupanel.trainer.datasets.images.decoding import DecodedPart, ImageDecoding
from gpupanel.trainer.datasets.images.files import LARGEST_IMAGE_PIXELS, ImageFiles
from gpupanel.trainer.datasets.images.pixels import PlainJpeg
from gpupanel.trainer.parts.image_pixels import WantedPixels
from tests.forked.processes import run_forked

PLAIN = ("444", "422", "420", "progressive", "large", "very_large", "tall", "tiny", "junk_after")
OTHERWISE = ("turned", "cmyk", "mpo", "png", "averaged")
BAD = ("half", "a_byte_less", "no_end", "large_half", "bomb", "no_picture")


def photo(width: int, height: int) -> Image.Image:
    """Colours that change slowly, and noise."""
    random = np.random.default_rng(width)
    small = random.integers(0, 256, (height // 8 + 1, width // 8 + 1, 3), np.uint8)
    large = np.asarray(Image.fromarray(small).resize((width, height)), np.int16)
    noisy = large + random.integers(-9, 10, (height, width, 3))
    return Image.fromarray(noisy.clip(0, 255).astype(np.uint8))


def jpeg(image: Image.Image, kind: str = "JPEG", **settings: object) -> bytes:
    content = io.BytesIO()
    image.save(content, kind, **settings)
    return content.getvalue()


def bomb() -> bytes:
    """A JPEG whose header says 60,000 x 60,000 pixels."""
    content = jpeg(photo(16, 16))
    place = content.index(b"\xff\xc0") + 5
    return content[:place] + struct.pack(">HH", 60_000, 60_000) + content[place + 4 :]


@pytest.fixture(scope="module")
def decoded(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("pictures")
    turned = Image.Exif()
    turned[0x0112] = 6
    small, large = photo(101, 79), photo(403, 299)
    contents = {
        "444": jpeg(small, subsampling=0),
        "422": jpeg(small, subsampling=1),
        "420": jpeg(small, subsampling=2),
        "progressive": jpeg(small, progressive=True, quality=95),
        "large": jpeg(large),
        "very_large": jpeg(photo(530, 501), progressive=True),
        "tall": jpeg(photo(50, 95)),
        "tiny": jpeg(photo(9, 5)),
        "junk_after": jpeg(small) + bytes(1000),
        "grey": jpeg(small.convert("L")),
        "large_grey": jpeg(large.convert("L"), progressive=True),
        "turned": jpeg(small, exif=turned),
        "cmyk": jpeg(small.convert("CMYK")),
        "mpo": jpeg(small, "MPO", save_all=True, append_images=[large]),
        "png": jpeg(small, "PNG"),
        "averaged": jpeg(photo(403, 50)),
        "half": jpeg(small)[: len(jpeg(small)) // 2],
        "a_byte_less": jpeg(small)[:-200],
        "no_end": jpeg(small)[:-2],
        "large_half": jpeg(large)[: len(jpeg(large)) // 2],
        "bomb": bomb(),
        "no_picture": b"\xff\xd8\xff no picture",
    }
    for name, content in contents.items():
        (folder / name).write_bytes(content)
    done = run_forked(
        [sys.executable, str(Path(__file__).with_name("decode_both.py")), str(folder)],
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    found = json.loads(done.stdout.splitlines()[-1])
    return {**found, "names": sorted(contents), "warnings": done.stderr}


def of(decoded: dict[str, Any], name: str, channels: int) -> list[list[Any]]:
    return [
        found for key, found in decoded["each"].items() if key.startswith(f"{name} {channels} ")
    ]


@pytest.mark.tensorflow
@pytest.mark.parametrize("name", PLAIN)
def test_that_tensorflow_decodes_a_jpeg_to_the_same_pixels(
    decoded: dict[str, Any], name: str
) -> None:
    assert of(decoded, name, 3) == [[0, True]] * 4
    assert of(decoded, name, 1) == [[0, False]] * 4  # grey is made of colours one by one


@pytest.mark.tensorflow
@pytest.mark.parametrize("name", ["grey", "large_grey"])
def test_that_tensorflow_decodes_grey_to_the_same_pixels(
    decoded: dict[str, Any], name: str
) -> None:
    assert of(decoded, name, 1) == [[0, True]] * 4
    assert of(decoded, name, 3) == [[0, False]] * 4


@pytest.mark.tensorflow
@pytest.mark.parametrize("name", OTHERWISE)
def test_that_what_is_no_plain_jpeg_is_decoded_by_itself(
    decoded: dict[str, Any], name: str
) -> None:
    assert of(decoded, name, 3) == [[0, False]] * 4


@pytest.mark.tensorflow
@pytest.mark.parametrize("name", BAD)
def test_that_tensorflow_takes_no_file_that_is_refused_otherwise(
    decoded: dict[str, Any], name: str
) -> None:
    for (by_itself, at_once), is_by_tensorflow in of(decoded, name, 3):
        assert by_itself == at_once
        assert not is_by_tensorflow
    assert decoded["together"]
    assert decoded["unreadable"] == sorted(decoded["names"].index(bad) for bad in BAD)


@pytest.mark.tensorflow
def test_that_images_of_several_sizes_give_no_warning(decoded: dict[str, Any]) -> None:
    assert "retracing" not in decoded["warnings"]


@pytest.mark.tensorflow
def test_that_many_jpegs_are_decoded_to_the_same_pixels(decoded: dict[str, Any]) -> None:
    # A call of 32, one of 16, and what is left over.
    assert decoded["many"] == {"different": [], "unreadable": [[], []], "by_tensorflow": 53}


@pytest.mark.tensorflow
def test_that_a_damaged_jpeg_among_many_leaves_the_others_what_they_are(
    decoded: dict[str, Any],
) -> None:
    # The 31 others of its call are decoded one by one.
    assert decoded["many_with_one_damaged"] == {
        "different": [],
        "unreadable": [[3], [3]],
        "by_tensorflow": 53 - 32,
    }


class Refusing:
    """Decodes nothing: as where one of those that are decoded at once is damaged."""

    def __init__(self) -> None:
        self.given: list[PlainJpeg] = []

    def decode(self, jpegs: list[PlainJpeg], wanted: WantedPixels) -> list[DecodedPart]:
        assert wanted == WantedPixels((8, 8), 3)
        self.given += jpegs
        return []


def test_that_what_cannot_be_decoded_at_once_is_decoded_by_itself(tmp_path: Path) -> None:
    paths = []
    for number in range(3):
        paths.append(str(tmp_path / f"{number}.jpg"))
        photo(20 + 10 * number, 30).save(paths[-1])
    refusing, order = Refusing(), np.array([2, 0, 1], np.int32)
    by_itself = ImageFiles(tuple(paths), WantedPixels((8, 8), 3))
    files = replace(by_itself, decoding=ImageDecoding(refusing))
    assert np.array_equal(files.read(order), by_itself.read(order))
    assert [jpeg.reduction for jpeg in refusing.given] == [2, 2, 2]


def test_that_a_large_file_is_not_read_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "padded.jpg"
    path.write_bytes(jpeg(photo(20, 30)) + bytes(5000))
    monkeypatch.setattr("gpupanel.trainer.datasets.images.pixels._LARGE_BYTES", 3000)
    refusing = Refusing()
    ImageFiles((str(path),), WantedPixels((8, 8), 3), decoding=ImageDecoding(refusing)).read(
        np.array([0], np.int32)
    )
    assert refusing.given == []
    assert LARGEST_IMAGE_PIXELS < 60_000 * 60_000
