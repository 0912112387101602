"""What a preview finds of the range of numbers, and how models are given them."""

import json
import os
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gpupanel.domain.data import ImagesData, NpzData, TableData, Target
from gpupanel.domain.model import SavedModel
from gpupanel.domain.preview import PreviewRequest
from gpupanel.domain.task import Task
from gpupanel.domain.trained_on import TRAINED_ON_MEMBER, TrainedOn
from gpupanel.trainer.models.model_file import scales_of_file
from gpupanel.trainer.models.saved_outputs import (
    begins_with_division,
    begins_with_scaling,
    standardised_range,
)
from gpupanel.trainer.tools.preview.model_preview import model_expects
from gpupanel.trainer.tools.preview.preview import preview
from tests.forked.processes import run_forked


def layer(kind: str, *inside: object) -> dict[str, object]:
    return {"class_name": kind, "config": {"layers": list(inside)} if inside else {}}


@pytest.mark.parametrize(
    ("first", "wanted"),
    [
        (("InputLayer", "Conv2D"), False),
        (("InputLayer", "ZeroPadding2D", "Conv2D", "BatchNormalization"), False),
        (("InputLayer", "Reshape", "Dense"), False),
        (("InputLayer", "RandomFlip", "Rescaling", "Conv2D"), True),
        (("InputLayer", "Normalization", "Conv2D"), True),
        (("InputLayer", "BatchNormalization", "Conv2D"), True),
        (("InputLayer", "AveragePooling2D", "Dropout", "Conv2D"), False),
        (("InputLayer", "GlobalAveragePooling2D", "Dense"), False),
        (("InputLayer", "Permute", "Bidirectional"), False),
        (("InputLayer", "MaxPooling2D", "Rescaling", "Conv2D"), True),
        (("InputLayer", "Subtract", "Conv2D"), None),
        (("InputLayer", "TrueDivide", "Conv2D"), None),
        ((), None),
    ],
)
def test_that_a_model_says_by_its_first_layers_whether_it_scales(
    first: tuple[str, ...], *, wanted: bool | None
) -> None:
    layers = [layer(kind) for kind in first]
    assert begins_with_scaling(layer("Sequential", *layers)) is wanted
    inner = layer("Functional", *layers)
    assert begins_with_scaling(layer("Functional", layer("InputLayer"), inner)) is wanted
    assert begins_with_scaling([1, 2]) is None


@pytest.mark.parametrize(
    ("scale", "divides"),
    [(1 / 255, True), (1 / 127.5, True), (1 / 16, False), (255.0, False), ([1 / 255], False)],
)
def test_that_a_preview_finds_whether_a_saved_model_divides_pixels(
    tmp_path: Path, *, scale: object, divides: bool
) -> None:
    scaling = {"class_name": "Rescaling", "config": {"scale": scale}}
    layers = [layer("InputLayer"), scaling, layer("Conv2D")]
    model = {"class_name": "Sequential", "config": {"layers": layers}}
    assert begins_with_division(model) is divides
    assert begins_with_division({"class_name": "Rescaling", "config": 3}) is False
    assert begins_with_division(layer("Sequential", layer("Conv2D"), scaling)) is False
    assert begins_with_division(None) is False
    with zipfile.ZipFile(tmp_path / "model.keras", "w") as archive:
        archive.writestr("config.json", json.dumps(model))
    assert scales_of_file(str(tmp_path / "model.keras")) == (True, divides)


@pytest.mark.parametrize(
    ("operations", "divides"),
    [
        ((("TrueDivide", 127.5), ("Subtract", 1)), True),
        ((("Subtract", 127.5), ("Divide", 127.5)), True),
        (
            (
                ("Cast", None),
                ("Multiply", {"class_name": "__tensor__", "config": {"value": 1 / 255}}),
            ),
            True,
        ),
        ((("TrueDivide", 2.0),), False),
        ((("TrueDivide", 0),), False),
        ((("TrueDivide", "255"),), False),
        ((("Multiply", 1 / 16),), False),
        ((("Multiply", {"config": [1 / 255]}),), False),
    ],
)
def test_that_a_model_may_divide_pixels_by_functions_instead_of_layers(
    operations: tuple[tuple[str, object], ...], *, divides: bool
) -> None:
    layers: list[dict[str, object]] = [layer("InputLayer")]
    for kind, number in operations:
        given = {"class_name": "__keras_tensor__", "config": {}}
        arguments = [given] if number is None else [given, number]
        layers.append({"class_name": kind, "config": {}, "inbound_nodes": [{"args": arguments}]})
    model = layer("Functional", *layers, layer("Conv2D"))
    assert begins_with_division(model) is divides


@pytest.mark.parametrize(
    ("inside", "wanted"),
    [
        ({"mean": 0.5, "variance": 0.01}, (-1.5, 2.5)),
        ({"mean": [[0.0, 1.0]], "variance": [[1.0, 4.0]]}, (-39.0, 41.0)),
        ({"mean": None, "variance": None}, None),  # adapted: its weights say it
        ({"mean": "x", "variance": 1}, None),
        ({"mean": [1, [2]], "variance": 1}, None),
        ({"mean": 1}, None),
        (3, None),
    ],
)
def test_that_a_model_says_between_which_values_it_standardises(
    inside: object, wanted: tuple[float, float] | None
) -> None:
    normalisation = {"class_name": "Normalization", "config": inside}
    model = layer("Sequential", layer("InputLayer"), normalisation, layer("Dense"))
    assert standardised_range(model) == (None if wanted is None else pytest.approx(wanted))
    assert standardised_range(layer("Sequential", layer("Dense"), normalisation)) is None


@pytest.mark.parametrize(
    ("learned", "wanted"), [((0.0, 1.0), (-10.0, 11.0)), ((3.0, 3.0), None), (None, (-1.5, 2.5))]
)
def test_that_a_preview_says_between_which_values_a_model_learned(
    tmp_path: Path, learned: tuple[float, float] | None, wanted: tuple[float, float] | None
) -> None:
    normalisation = {"class_name": "Normalization", "config": {"mean": 0.5, "variance": 0.01}}
    dense = {"class_name": "Dense", "config": {"units": 2, "activation": "softmax"}}
    model = layer("Sequential", layer("InputLayer"), normalisation, dense)
    with zipfile.ZipFile(tmp_path / "model.keras", "w") as archive:
        archive.writestr("config.json", json.dumps(model))
        archive.writestr("metadata.json", "{}")
        archive.writestr("model.weights.h5", "")
        record = TrainedOn(predicts=Target.CLASSES, class_names=("0", "1"), value_range=learned)
        archive.writestr(TRAINED_ON_MEMBER, record.model_dump_json())
    saved = SavedModel(path=str(tmp_path / "model.keras"))
    asked = PreviewRequest(data=NpzData(path="none.npz"), model=saved, task="predict")
    assert model_expects(asked) == (None if wanted is None else pytest.approx(wanted))
    table = PreviewRequest(data=TableData(path="none.csv"), model=saved, task="predict")
    assert model_expects(table) is None


@pytest.mark.parametrize("task", ["predict", "evaluate"])
def test_that_a_preview_finds_the_range_of_examples_without_labels(
    tmp_path: Path, task: Task
) -> None:
    x = np.linspace(0, 255, 4 * 6 * 6).reshape(4, 6, 6).astype(np.uint8)
    np.savez(tmp_path / "x.npz", x=x)
    Image.fromarray(x[0]).resize((40, 40)).save(tmp_path / "x.png")
    arrays = NpzData(path=str(tmp_path / "x.npz"))
    # However few of them are shown.
    seen = preview(PreviewRequest(data=arrays, task=task, example_limit=0))
    assert (seen.value_range, seen.examples) == ((0.0, 255.0), ())
    images = ImagesData(path=str(tmp_path), image_size=(6, 6))
    found = preview(PreviewRequest(data=images, task="predict")).value_range
    assert found is not None
    assert found[1] > 50


def test_that_a_preview_finds_the_range_of_arrays(tmp_path: Path) -> None:
    x = np.linspace(-0.5, 2.0, 4 * 6 * 6).reshape(4, 6, 6).astype(np.float32)
    np.savez(tmp_path / "x.npz", x=x, y=[0, 1, 0, 1])
    found = preview(PreviewRequest(data=NpzData(path=str(tmp_path / "x.npz"))))
    assert found.value_range == (-0.5, 2.0)
    np.savez(tmp_path / "x.npz", x=np.uint8(x * 100 + 55), y=[0, 1, 0, 1])
    found = preview(PreviewRequest(data=NpzData(path=str(tmp_path / "x.npz"))))
    assert found.value_range == (5.0, 255.0)


@pytest.mark.tensorflow
@pytest.mark.long
def test_that_an_architecture_is_given_the_same_by_arrays_of_0_to_1_as_by_pixels() -> None:
    done = run_forked(
        [sys.executable, str(Path(__file__).with_name("application_ranges.py"))],
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    found = json.loads(done.stdout.splitlines()[-1])
    assert set(found) == {"bytes", "floats", "from 0 to 1"}
    for least, greatest in found.values():
        assert (least, greatest) == pytest.approx((-1.0, 1.0), abs=1e-5)
