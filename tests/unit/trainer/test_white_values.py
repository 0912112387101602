"""Which value of an image is white: found, said, chosen, and kept with the model."""

import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gpupanel.domain.data import ImagesData
from gpupanel.domain.preview import PreviewRequest
from gpupanel.domain.previewed_profile import with_detected
from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.profile import Profile
from gpupanel.domain.scan import ScanRequest
from gpupanel.planning.fixes import apply_fix
from gpupanel.planning.script.images import image_function
from gpupanel.trainer.datasets.images import image_sizes
from gpupanel.trainer.datasets.images.files import ImageFiles
from gpupanel.trainer.datasets.source import Reading, source_of
from gpupanel.trainer.exports.predict import features_of_image
from gpupanel.trainer.parts.image_pixels import WantedPixels
from gpupanel.trainer.tools.preview.preview import preview
from gpupanel.trainer.tools.scan import scan

SIDE = 8


def data_of(root: Path, **chosen: object) -> ImagesData:
    settings = {"path": str(root), "image_size": (SIDE, SIDE), "color": "grayscale", **chosen}
    return ImagesData.model_validate(settings)


def save(root: Path, pixels: np.ndarray, suffix: str = "png") -> Path:
    """One image in each of two classes."""
    for name in ("a", "b"):
        (root / name).mkdir(parents=True, exist_ok=True)
        Image.fromarray(pixels).save(root / name / f"1.{suffix}")
    return root / "a" / f"1.{suffix}"


def ramp(greatest: float, kind: str = "uint16") -> np.ndarray:
    """From 0 to the value, as the numbers of an image."""
    return np.linspace(0, greatest, SIDE * SIDE).reshape(SIDE, SIDE).astype(kind)


def read(data: ImagesData, recipe: str = "") -> np.ndarray:
    found = source_of(data).read(data, Reading(print, recipe=recipe)).training
    return found.read(np.arange(1, dtype=np.int32))[0, ..., 0]


def notes_of(data: ImagesData) -> list[Problem]:
    return [each for each in preview(PreviewRequest(data=data)).problems if "white" in each.message]


def said_of(data: ImagesData) -> Problem:
    (problem,) = preview(PreviewRequest(data=data)).problems
    return problem


@pytest.mark.parametrize(
    ("pixels", "suffix", "white"),
    [
        (ramp(4095), "png", 4095),
        (ramp(4000), "tif", 4095),
        (ramp(1000), "png", 1023),
        (ramp(16_383), "png", 16_383),
        (ramp(15, "uint8"), "png", 15),
        (ramp(1, "uint8"), "bmp", 1),
    ],
)
def test_that_images_of_which_only_the_lower_bits_are_used_become_bright_by_a_fix(
    tmp_path: Path, pixels: np.ndarray, suffix: str, white: int
) -> None:
    save(tmp_path, pixels, suffix)
    data = data_of(tmp_path)
    problem = said_of(data)
    assert (problem.code, problem.severity) == ("images_dark", Severity.WARNING)
    assert problem.fix is not None
    mended = apply_fix(Profile(data=data), problem.fix).data
    assert isinstance(mended, ImagesData)
    assert mended.white_value == white
    assert not preview(PreviewRequest(data=mended)).problems
    wanted = np.rint(pixels.astype(np.float64) * 255 / white)
    for cache in ("disk", "memory", "none"):
        read(data_of(tmp_path, cache=cache))  # what is kept of it is of the automatic white
        assert np.array_equal(read(mended.model_copy(update={"cache": cache})), wanted)
    assert len(np.unique(read(mended))) >= len(np.unique(read(data)))
    (found,) = (each for each in scan(ScanRequest(data=data)).problems if each == problem)
    assert found.fix == problem.fix


@pytest.mark.parametrize("pixels", [ramp(65_535), ramp(255, "uint8"), ramp(0)])
def test_that_images_that_use_their_range_are_read_as_before(
    tmp_path: Path, pixels: np.ndarray
) -> None:
    save(tmp_path, pixels)
    assert not preview(PreviewRequest(data=data_of(tmp_path))).problems
    is_deep = pixels.dtype == np.uint16
    assert np.array_equal(read(data_of(tmp_path)), pixels >> 8 if is_deep else pixels)


@pytest.mark.parametrize(("greatest", "white"), [(1.0, 1), (0.5, 1), (255.0, 255), (4000.0, 4095)])
def test_that_numbers_of_32_bits_are_refused_with_the_white_value_that_they_seem_to_have(
    tmp_path: Path, greatest: float, white: int
) -> None:
    pixels = ramp(greatest, "float32")
    pixels[0, 0] = np.nan
    save(tmp_path, pixels, "tif")
    problem = said_of(data_of(tmp_path))
    assert problem.code == "data_image_unreadable"
    assert problem.fix is not None
    mended = apply_fix(Profile(data=data_of(tmp_path)), problem.fix).data
    assert isinstance(mended, ImagesData)
    assert mended.white_value == white
    wanted = np.rint(np.nan_to_num(pixels).astype(np.float64) * 255 / white)
    assert np.array_equal(read(mended), wanted)


def test_that_a_white_value_that_does_not_fit_is_pointed_out(tmp_path: Path) -> None:
    save(tmp_path / "beyond", ramp(4095))
    save(tmp_path / "unused", ramp(255, "uint8"))
    beyond = said_of(data_of(tmp_path / "beyond", white_value=1023))
    unused = said_of(data_of(tmp_path / "unused", white_value=4095))
    assert (beyond.code, unused.code) == ("white_value_misfit", "white_value_misfit")
    assert "up to 4,095" in beyond.message
    assert "it changes nothing" in unused.message
    assert read(data_of(tmp_path / "beyond", white_value=1023)).max() == 255
    assert np.array_equal(read(data_of(tmp_path / "unused", white_value=4095)), ramp(255, "uint8"))


def test_that_dark_colour_images_of_16_bits_are_named_without_a_fix(tmp_path: Path) -> None:
    levels = np.repeat(ramp(4095)[..., np.newaxis], 3, axis=2).astype(">u2")
    rows = b"".join(b"\0" + row.tobytes() for row in levels)
    parts = (
        (b"IHDR", struct.pack(">IIBBBBB", SIDE, SIDE, 16, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(rows)),
        (b"IEND", b""),
    )
    content = b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(part)) + name + part + struct.pack(">I", zlib.crc32(name + part))
        for name, part in parts
    )
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "1.png").write_bytes(content)
    problem = said_of(data_of(tmp_path))
    assert (problem.code, problem.fix) == ("images_dark", None)
    assert "no value of some of them is above 4,095" in problem.message


def test_that_images_are_read_as_the_model_was_trained_where_nothing_is_chosen(
    tmp_path: Path,
) -> None:
    save(tmp_path, ramp(4095))
    trained = data_of(tmp_path, white_value=4095)
    recipe = source_of(trained).read(trained, Reading(print)).recipe
    data = data_of(tmp_path)
    assert np.array_equal(read(data, recipe), read(trained))
    found = source_of(data).find(data, Reading(print, recipe=recipe)).found
    assert found == {"white_value": 4095}
    filled = with_detected(
        Profile(data=data), preview(PreviewRequest(data=data)).model_copy(update={"found": found})
    )
    assert filled.data == trained
    assert np.array_equal(read(data_of(tmp_path, white_value=2047), recipe).max(), 255)
    assert np.array_equal(read(data, "[no recipe"), read(data))


@pytest.mark.parametrize(
    ("pixels", "suffix", "white"),
    [
        (ramp(4095), "png", 4095),
        (ramp(4095), "tif", None),
        (ramp(15, "uint8"), "png", 15),
        (ramp(200, "uint8"), "png", 255),
        (ramp(1.0, "float32"), "tif", 1),
        (ramp(70_000, "int32"), "tif", 70_000),
    ],
)
@pytest.mark.parametrize("color", ["grayscale", "rgb"])
def test_that_script_and_predict_py_see_the_same_white(
    tmp_path: Path, pixels: np.ndarray, suffix: str, white: int | None, color: str
) -> None:
    path = save(tmp_path, pixels, suffix)
    data = data_of(tmp_path, white_value=white, color=color)
    examples = source_of(data).read(data, Reading(print)).training
    wanted = examples.read(np.arange(1, dtype=np.int32))[0]
    made: dict[str, object] = {"np": np}
    exec(image_function(data.image_size, data.color, white), made)
    assert np.array_equal(made["image"](path), wanted)  # type: ignore[operator]
    channels = wanted.shape[-1]
    image = {"height": SIDE, "width": SIDE, "channels": channels, "greatest": 255.0}
    image |= {} if white is None else {"white_value": white}
    assert np.array_equal(features_of_image(path, image), wanted)


def test_that_a_bright_image_is_enough_to_know_that_images_are_not_dark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(30):
        (tmp_path / "a").mkdir(exist_ok=True)
        Image.fromarray(ramp(255, "uint8")).save(tmp_path / "a" / f"{number}.png")
    files = ImageFiles(
        tuple(map(str, sorted((tmp_path / "a").iterdir()))), WantedPixels((SIDE, SIDE), 1)
    )
    unpacked: list[object] = []
    values = image_sizes._values
    monkeypatch.setattr(image_sizes, "_values", lambda image: unpacked.append(1) or values(image))
    assert not image_sizes.value_notes(files, 0)
    assert len(unpacked) == 1


def test_that_dark_images_of_another_camera_are_found_among_bright_ones(tmp_path: Path) -> None:
    save(tmp_path, ramp(255, "uint8"))
    for number in range(2, 7):
        pixels = ramp(4095) if number % 2 else ramp(255, "uint8")
        Image.fromarray(pixels).save(tmp_path / "b" / f"{number}.png")
    problem = said_of(data_of(tmp_path))
    assert (problem.code, problem.severity) == ("images_dark", Severity.WARNING)
    assert problem.fix is not None
    chosen = apply_fix(Profile(data=data_of(tmp_path)), problem.fix).data
    assert isinstance(chosen, ImagesData)
    assert chosen.white_value == 4095
    assert not notes_of(chosen)


@pytest.mark.parametrize(
    ("opacity", "severity"), [(255, None), (0, Severity.WARNING), (128, Severity.WARNING)]
)
def test_that_images_that_are_see_through_are_pointed_out(
    tmp_path: Path, opacity: int, severity: Severity | None
) -> None:
    alpha = np.full((SIDE, SIDE), opacity, np.uint8)
    save(tmp_path, np.dstack([*[ramp(255, "uint8")] * 3, alpha]))
    found = [(each.code, each.severity) for each in notes_of(data_of(tmp_path))]
    assert found == ([("images_see_through", severity)] if severity else [])


@pytest.mark.parametrize("suffix", ["tif", "gif", "webp", "png"])
def test_that_frames_that_are_not_read_are_pointed_out(tmp_path: Path, suffix: str) -> None:
    save(tmp_path, ramp(255, "uint8"), suffix)
    assert not preview(PreviewRequest(data=data_of(tmp_path))).problems
    frames = [Image.fromarray(np.full((SIDE, SIDE), 80 * each, np.uint8)) for each in range(3)]
    for name in ("a", "b"):
        path = tmp_path / name / f"2.{suffix}"
        Image.fromarray(ramp(255, "uint8")).save(path, save_all=True, append_images=frames)
    problem = said_of(data_of(tmp_path))
    assert (problem.code, problem.severity) == ("images_of_several_frames", Severity.HINT)
    assert problem.message.startswith("2 of 4 images that were opened have several frames")
    assert "up to 4: the first of each is read" in problem.message
