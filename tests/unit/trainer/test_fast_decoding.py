"""JPEGs unpacked at less than their wanted size: how much differs, and that all read them alike."""

import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image, ImageDraw

from gpupanel.domain.data import DataCache, ImagesData
from gpupanel.domain.images_data import JpegDecoding
from gpupanel.domain.preview import PreviewRequest
from gpupanel.domain.previewed_profile import with_detected
from gpupanel.domain.profile import Profile
from gpupanel.planning.script.data_section import script_of
from gpupanel.trainer.datasets.images.pixels import pixels_of
from gpupanel.trainer.datasets.images.recipe import image_recipe_in
from gpupanel.trainer.datasets.source import Reading, source_of
from gpupanel.trainer.exports import description
from gpupanel.trainer.exports.predict import features_of_image
from gpupanel.trainer.parts.image_pixels import WantedPixels, jpeg_reduction
from gpupanel.trainer.tools.preview.preview import preview

SIZE = (112, 112)
FIRST = np.zeros(1, np.int32)
Pixels = npt.NDArray[np.uint8]


def photo(seed: int, smoothness: float, shapes: int = 0) -> Image.Image:
    """250x200, with the frequencies of photographs: the smaller, the fainter; and sharp edges."""
    random = np.random.default_rng(seed)
    down, across = np.fft.fftfreq(200)[:, np.newaxis], np.fft.rfftfreq(250)[np.newaxis]
    lengths = np.maximum(np.hypot(down, across), 1 / 250)[..., np.newaxis]
    noise = np.fft.rfft2(random.standard_normal((200, 250, 3)), axes=(0, 1))
    waves = np.fft.irfft2(noise / lengths**smoothness, (200, 250), axes=(0, 1))
    scaled = 128 + 50 * (waves - waves.mean()) / waves.std()
    image = Image.fromarray(scaled.clip(0, 255).astype(np.uint8))
    draw = ImageDraw.Draw(image)
    for _ in range(shapes):
        left, top = random.integers(0, 220), random.integers(0, 170)
        corners = [(left, top), (left + 40, top + 9), (left + 13, top + 35)]
        draw.polygon(corners, fill=tuple(random.integers(0, 256, 3).tolist()))
    return image


def jpeg(image: Image.Image) -> bytes:
    content = io.BytesIO()
    image.save(content, "JPEG", quality=90)
    return content.getvalue()


def decoded(content: bytes, *, is_fast: bool) -> Pixels:
    return pixels_of(io.BytesIO(content), WantedPixels(SIZE, 3, is_fast=is_fast))


def data_of(root: Path, decode: str | None = None, **chosen: object) -> ImagesData:
    settings = {"path": str(root), "image_size": SIZE, "decode": decode, **chosen}
    return ImagesData.model_validate(settings)


def read(data: ImagesData, recipe: str = "") -> Pixels:
    found = source_of(data).read(data, Reading(print, recipe=recipe)).training
    return np.asarray(found.read(FIRST)[0], np.uint8)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "1.jpg").write_bytes(jpeg(photo(3, 1.5, shapes=10)))
    return tmp_path


@pytest.mark.parametrize(
    ("width", "height", "exact", "fast"),
    [
        (223, 400, 1, 1),
        (500, 400, 1, 2),
        (380, 380, 1, 1),
        (381, 381, 1, 2),
        (448, 448, 2, 2),
        (3000, 1600, 4, 8),
        (9000, 9000, 8, 8),
    ],
)
def test_that_fast_takes_a_part_that_is_at_most_15_percent_too_small(
    width: int, height: int, exact: int, fast: int
) -> None:
    wanted = WantedPixels((224, 224), 3)
    assert jpeg_reduction(width, height, wanted) == exact
    assert jpeg_reduction(width, height, replace(wanted, is_fast=True)) == fast
    assert jpeg_reduction(height, width, replace(wanted, is_fast=True)) == fast


def test_that_fast_differs_from_exact_by_no_more_than_its_words_say() -> None:
    words = JpegDecoding.FAST.description
    assert "differs by 1 to 10 on average, and by up to 100" in words
    means, greatest = [], []
    for seed in range(4):
        for smoothness in (1.1, 1.3, 1.5):
            for shapes in (0, 12):
                content = jpeg(photo(seed, smoothness, shapes))
                exact = decoded(content, is_fast=False).astype(np.int16)
                differences = np.abs(exact - decoded(content, is_fast=True))
                means.append(differences.mean())
                greatest.append(differences.max())
    assert min(means) >= 1
    assert max(means) <= 10
    assert 60 < max(greatest) <= 100


def test_that_fast_is_nearer_to_what_a_slow_and_thorough_scaling_gives() -> None:
    for seed in range(3):
        image = photo(seed, 1.3, shapes=12)
        content = jpeg(image)
        with Image.open(io.BytesIO(content)) as opened:
            thorough = np.asarray(opened.resize(SIZE, Image.Resampling.BILINEAR), np.int16)
        exact, fast = (
            np.abs(decoded(content, is_fast=each) - thorough).mean() for each in (False, True)
        )
        assert fast < exact


@pytest.mark.parametrize("cache", [*DataCache])
def test_that_what_is_kept_of_one_way_is_not_taken_for_the_other(
    folder: Path, cache: DataCache
) -> None:
    content = (folder / "a" / "1.jpg").read_bytes()
    exact, fast = decoded(content, is_fast=False), decoded(content, is_fast=True)
    assert not np.array_equal(exact, fast)
    for _ in range(2):
        assert np.array_equal(read(data_of(folder, cache=cache)), exact)
        assert np.array_equal(read(data_of(folder, "fast", cache=cache)), fast)
        assert np.array_equal(read(data_of(folder, "exact", cache=cache)), exact)


def test_that_images_are_read_as_a_model_was_trained_unless_somebody_chooses(folder: Path) -> None:
    trained = data_of(folder, "fast")
    recipe = source_of(trained).read(trained, Reading(print)).recipe
    assert json.loads(recipe) == {"schema_version": 1, "decode": "fast"}
    open_choice = data_of(folder)
    assert source_of(open_choice).read(open_choice, Reading(print)).recipe == ""
    assert np.array_equal(read(open_choice, recipe), read(trained))
    assert np.array_equal(read(data_of(folder, "exact"), recipe), read(open_choice))
    found = source_of(open_choice).find(open_choice, Reading(print, recipe=recipe)).found
    assert found == {"decode": "fast"}
    shown = preview(PreviewRequest(data=open_choice)).model_copy(update={"found": found})
    assert with_detected(Profile(data=open_choice), shown).data == trained


def test_that_a_white_value_and_a_way_to_unpack_are_kept_together(folder: Path) -> None:
    trained = data_of(folder, "fast", white_value=200)
    recipe = source_of(trained).read(trained, Reading(print)).recipe
    assert json.loads(recipe) == {"schema_version": 1, "white_value": 200, "decode": "fast"}
    assert np.array_equal(read(data_of(folder), recipe), read(trained))


@pytest.mark.parametrize("decode", ["exact", "fast"])
def test_that_script_and_predict_py_read_the_pixels_of_the_run(folder: Path, decode: str) -> None:
    data, path = data_of(folder, decode, cache=DataCache.NONE), folder / "a" / "1.jpg"
    wanted = read(data)
    text, _, _ = script_of(data).read(data, needs_labels=True).partition("class Images")
    script: dict[str, object] = {"np": np}
    exec(text, script)
    assert np.array_equal(script["image"](path), wanted)  # type: ignore[operator]
    image = {"height": SIZE[0], "width": SIZE[1], "channels": 3, "greatest": 255.0}
    assert np.array_equal(features_of_image(path, {**image, "decode": decode}), wanted)


def test_that_an_exported_model_says_how_its_images_were_read(folder: Path) -> None:
    trained = data_of(folder, "fast")
    kept = image_recipe_in(source_of(trained).read(trained, Reading(print)).recipe)
    image = description._input(trained, None, None, (*SIZE, 3), "uint8", kept).image
    assert image is not None
    (path, *_) = sorted(folder.rglob("*.jpg"))
    wanted = image.model_dump(mode="json", exclude_none=True)
    assert wanted["decode"] == "fast"
    assert np.array_equal(features_of_image(path, wanted), read(trained))


def test_that_the_model_of_a_script_says_how_its_images_were_read(folder: Path) -> None:
    for chosen in ({"decode": "fast"}, {"decode": "fast", "white_value": 4095}):
        data = data_of(folder, **chosen)  # type: ignore[arg-type]
        script = script_of(data).kept_in_model(data)
        text = script[script.index("recipe = ") :].splitlines()[0]
        kept = json.loads(text.removeprefix("recipe = "))
        assert kept.pop("schema_version") == 1
        assert kept == chosen
    assert not script_of(data).kept_in_model(data_of(folder))
