"""Whoever gives a model black on white that learned from white on black is told so."""

import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gpupanel.domain.data import ImagesData, NpzData, Target
from gpupanel.domain.trained_on import TRAINED_ON_MEMBER, TrainedOn
from gpupanel.trainer.parts.image_edges import edge_means, is_ground_unlike
from tests.unit.trainer.test_classes_of_the_model import examples_of, model_of, profile_of

DARK, LIGHT = (0.0, 0.1), (0.9, 1.0)
CODE = "light_and_dark_differ"


def model_that_saw(
    folder: Path, edges: tuple[float, float] | None, between: tuple[float, float] | None
) -> Path:
    path = model_of(folder, ())
    record = TrainedOn(
        predicts=Target.CLASSES, class_names=("a", "b", "c"), value_range=between, edges=edges
    )
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(TRAINED_ON_MEMBER, record.model_dump_json())
    return path


def pictures(folder: Path, light: int, dark: int) -> Path:
    """With a square of the other brightness in the middle."""
    folder.mkdir()
    for number in range(light + dark):
        pixels = np.full((20, 20), 250 if number < light else 5, np.uint8)
        pixels[5:15, 5:15] = 255 - pixels[0, 0]
        Image.fromarray(pixels).save(folder / f"{number}.png")
    return folder


def codes(model: Path, data: object) -> list[str]:
    return [each.code for each in examples_of(profile_of(model, data, "predict")).notes]


@pytest.mark.parametrize(
    ("light", "dark", "edges", "words"),
    [
        (
            3,
            1,
            DARK,
            "The edge of 3 of 4 examples is bright, and the training examples have a dark",
        ),
        (1, 0, DARK, "The edge of the example is bright"),
        (40, 0, DARK, "The edge of 32 of 32 examples is bright"),
        (0, 2, LIGHT, "The edge of 2 of 2 examples is dark, and the training examples have a brig"),
        (2, 2, DARK, ""),
        (3, 0, LIGHT, ""),
        (3, 0, (0.0, 0.5), ""),
        (3, 0, None, ""),
    ],
)
def test_that_most_pictures_of_the_other_ground_are_warned_of(
    tmp_path: Path, light: int, dark: int, edges: tuple[float, float] | None, words: str
) -> None:
    data = ImagesData(
        path=str(pictures(tmp_path / "new", light, dark)), image_size=(12, 12), color="grayscale"
    )
    model = model_that_saw(tmp_path, edges, (0.0, 255.0))
    found = examples_of(profile_of(model, data, "predict")).notes
    assert [each.code for each in found] == ([CODE] if words else [])
    assert "".join(each.message for each in found).startswith(words)


def test_that_nothing_is_said_where_nobody_knows(tmp_path: Path) -> None:
    folder = str(pictures(tmp_path / "new", 3, 0))
    grey = ImagesData(path=folder, image_size=(12, 12), color="grayscale")
    model = model_that_saw(tmp_path, DARK, (0.0, 255.0))
    assert codes(model, grey) == [CODE]
    assert codes(model, ImagesData(path=folder, image_size=(12, 12))) == []
    assert codes(model_of(tmp_path), grey) == []
    for between in (None, (3.0, 3.0)):
        assert codes(model_that_saw(tmp_path, DARK, between), grey) == []
    model = model_that_saw(tmp_path, DARK, (0.0, 1.0))
    for array, expected in (
        (np.ones((2, 9, 9)), [CODE]),
        (np.ones((2, 9)), []),
        (np.full((2, 9, 9), 255.0), []),
    ):
        np.savez(tmp_path / "x.npz", x=array)
        assert codes(model, NpzData(path=str(tmp_path / "x.npz"))) == expected


def test_that_only_a_ground_far_from_that_of_most_examples_is_another_one() -> None:
    assert [is_ground_unlike(edge, DARK) for edge in (0.0, 0.5, 0.6, 1.0)] == [0, 0, 1, 1]
    assert [is_ground_unlike(edge, LIGHT) for edge in (0.0, 0.4, 0.5, 1.0)] == [1, 1, 0, 0]
    assert not any(is_ground_unlike(edge, (0.2, 0.8)) for edge in (0.0, 1.0))


def test_that_the_edge_of_an_image_is_its_outermost_pixels() -> None:
    images = np.random.default_rng(1).integers(0, 256, (5, 6, 9), np.uint8)
    inside = np.zeros((6, 9), np.bool_)
    inside[1:-1, 1:-1] = True
    expected = [image[~inside].mean() for image in images]
    for shape in (images.shape, (*images.shape, 1)):
        assert edge_means(images.reshape(shape)).tolist() == pytest.approx(expected)
    chosen = np.array([3, 0], np.int64)
    assert edge_means(images, chosen).tolist() == pytest.approx([expected[3], expected[0]])


def test_that_knowing_the_edges_of_large_images_takes_little_memory() -> None:
    images = np.zeros((300, 500, 500), np.uint8)
    tracemalloc.start()
    try:
        edge_means(images, np.arange(300, dtype=np.int64))
        assert tracemalloc.get_traced_memory()[1] < 2**22
    finally:
        tracemalloc.stop()
