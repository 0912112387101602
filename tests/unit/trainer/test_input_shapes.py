"""Examples of a shape that a saved model does not take are refused before a run."""

import json
import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from gpupanel.domain.data import DataSettings, ImagesData, NpzData
from gpupanel.domain.decoded_images import GREATEST_SIDE
from gpupanel.domain.model import SavedModel
from gpupanel.domain.preview import PreviewRequest
from gpupanel.domain.problem import Problem
from gpupanel.domain.profile import Profile
from gpupanel.domain.task import Task
from gpupanel.planning.fixes import apply_fix
from gpupanel.trainer.models.input_shape import InputShape, input_misfit, input_shape_in
from gpupanel.trainer.parts.input_shape import fitting
from gpupanel.trainer.tools.preview.preview import preview
from tests.unit.trainer.image_folders import make_classes


def configuration(shape: Sequence[object], *more: Sequence[object]) -> dict[str, object]:
    inputs = [
        {"class_name": "InputLayer", "config": {"batch_shape": [None, *each], "name": f"in{at}"}}
        for at, each in enumerate((shape, *more))
    ]
    # What it ends in is known: otherwise Keras would be asked, in this process.
    ending = {"name": "outputs", "units": 2, "activation": "softmax"}
    dense = {"class_name": "Dense", "config": ending}
    return {"class_name": "Sequential", "config": {"layers": [*inputs, dense]}}


@pytest.fixture(autouse=True)
def _without_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "gpupanel.trainer.tools.preview.model_preview.check_model_file", lambda *_, **__: None
    )


def problems(
    folder: Path, shape: Sequence[object], data: DataSettings, task: Task = "predict"
) -> list[Problem]:
    with zipfile.ZipFile(folder / "model.keras", "w") as archive:
        archive.writestr("config.json", json.dumps(configuration(shape)))
    model = SavedModel(path=str(folder / "model.keras"))
    found = preview(PreviewRequest(data=data, model=model, task=task)).model_problems
    return [each for each in found if each.code == "model_input_does_not_fit"]


@pytest.mark.parametrize("task", ["train", "evaluate", "predict"])
@pytest.mark.parametrize(
    ("shape", "size", "color"), [([9, 11, 3], (9, 11), "rgb"), ([None, 5, 1], (4, 5), "grayscale")]
)
def test_that_images_of_another_size_are_refused_with_the_size_of_the_model(
    tmp_path: Path, task: Task, shape: list[int | None], size: tuple[int, int], color: str
) -> None:
    make_classes(tmp_path / "pets", {"cat": 2, "dog": 2})
    data = ImagesData(path=str(tmp_path / "pets"), image_size=(4, 4))
    (problem,) = problems(tmp_path, shape, data, task)
    assert "those of the data have the shape 4x4x3" in problem.message
    assert problem.fix is not None
    mended = apply_fix(Profile(data=data), problem.fix).data
    assert isinstance(mended, ImagesData)
    assert (mended.image_size, mended.color) == (size, color)
    assert not problems(tmp_path, shape, mended, task)


def test_that_no_image_size_is_offered_that_cannot_be_set() -> None:
    data = ImagesData(path="/pets", image_size=(4, 4))
    for side, is_offered in ((GREATEST_SIDE, True), (GREATEST_SIDE + 1, False)):
        problem = input_misfit((side, 5, 3), (4, 4, 3), data)
        assert (problem.fix is not None) is is_offered


def test_that_arrays_of_another_shape_are_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", x=np.zeros((4, 192), np.float32))
    (problem,) = problems(tmp_path, [8, 8, 3], NpzData(path=str(tmp_path / "a.npz")))
    assert (problem.field, problem.fix) == ("model.path", None)
    assert not problems(tmp_path, [192], NpzData(path=str(tmp_path / "a.npz")))


@pytest.mark.parametrize(
    ("wanted", "shape", "given"),
    [
        ((8, 8, 1), (8, 8), (8, 8, 1)),
        ((8, 8), (8, 8, 1), (8, 8)),
        ((64,), (8, 8), (64,)),
        ((None, None, 3), (5, 7, 3), (5, 7, 3)),
        ((8, 8, 3), (8, 8, 1), None),
        ((8, 8, 3), (192,), None),
        ((), (), ()),
    ],
)
def test_that_the_same_numbers_in_another_shape_fit(
    wanted: InputShape, shape: tuple[int, ...], given: tuple[int, ...] | None
) -> None:
    assert fitting(wanted, shape) == given


@pytest.mark.parametrize(
    "odd",
    [
        None,
        [],
        {"config": {"layers": "x"}},
        configuration([8], [4]),
        configuration(["x", True]),
        configuration([10**400, 5, 3]),
        configuration([-4, 5, 3]),
        configuration([0, 5, 3]),
        {"class_name": "Sequential", "config": {"layers": [{"class_name": "InputLayer"}]}},
    ],
)
def test_that_what_says_no_shape_is_left_to_keras(odd: object) -> None:
    assert input_shape_in(odd) is None
