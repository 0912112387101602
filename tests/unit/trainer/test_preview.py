"""The look at data before a run."""

import base64
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from gpupanel.domain.augmentation import Augmentation
from gpupanel.domain.data import DigitsData, ImagesData, KerasData, NpzData, TableData, Target
from gpupanel.domain.model import PythonModel, SavedModel
from gpupanel.domain.preview import DataPreview, PreviewRequest
from gpupanel.domain.problem import ProblemError, Severity
from gpupanel.domain.task import Task
from gpupanel.trainer.datasets.source import Reading, read_data
from gpupanel.trainer.models.model_file import check_model_file
from gpupanel.trainer.tools.preview import model_preview
from gpupanel.trainer.tools.preview.preview import preview
from tests.forked.processes import run_forked
from tests.unit.trainer.trained_runs import CHILD_ENVIRONMENT


def test_that_the_process_answers_without_tensorflow() -> None:
    request = {"data": {"source": "digits", "validation_fraction": 0.2}, "seed": 3}
    code = (
        "import sys; from gpupanel.trainer.tools.preview.__main__ import main; main();"
        "sys.exit('tensorflow' in sys.modules or 'sklearn' in sys.modules"
        " or 'pyarrow' in sys.modules)"
    )

    done = subprocess.run(
        [sys.executable, "-c", code],
        input=json.dumps({**request, "example_limit": 5}),
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    answer = DataPreview.model_validate_json(done.stdout)
    assert answer.example_count == 1797
    assert answer.feature_shape == (8, 8)
    assert sum(count for _, count in answer.class_counts) == 1797
    assert len(answer.examples) == 5
    image = answer.examples[0]
    assert (image.width, image.height, image.channels) == (8, 8, 1)
    assert len(base64.b64decode(image.pixels_base64)) == 64


def test_that_a_model_file_is_read_as_a_start_would(tmp_path: Path) -> None:
    def codes(model: SavedModel | PythonModel) -> list[tuple[str, str | None]]:
        found = preview(PreviewRequest(data=DigitsData(), model=model, example_limit=0))
        assert found.problems == ()
        return [(problem.code, problem.field) for problem in found.model_problems]

    (tmp_path / "notes.txt").touch()
    (tmp_path / "torn.keras").write_bytes(b"PK")
    (tmp_path / "model.py").write_text("raise SystemExit('carried out')")
    for name, code in (
        ("", "model_file_not_keras"),
        ("none.keras", "model_file_missing"),
        ("notes.txt", "model_file_not_keras"),
        ("torn.keras", "model_file_damaged"),
    ):
        assert codes(SavedModel(path=str(tmp_path / name))) == [(code, "model.path")], name
    long_name = str(tmp_path / f"{'x' * 300}.keras")
    assert codes(SavedModel(path=long_name)) == [("model_file_unreadable", "model.path")]
    assert codes(SavedModel(path="/dev/zero")) == [("model_file_unreadable", "model.path")]
    assert codes(PythonModel(path=str(tmp_path / "none.py"))) == [("code_missing", "model.path")]
    assert codes(PythonModel(path=str(tmp_path))) == [("code_unreadable", "model.path")]
    (tmp_path / "wide.py").write_text("x = 1", encoding="utf-16")
    assert codes(PythonModel(path=str(tmp_path / "wide.py"))) == [("code_unreadable", "model.path")]
    assert codes(PythonModel(path=str(tmp_path / "model.py"))) == []
    assert codes(PythonModel()) == []


def test_that_a_preview_of_a_large_model_does_not_read_its_weights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "large.keras"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("config.json", "{}")
        archive.writestr("model.weights.h5", b"these are no weights")
    request = PreviewRequest(data=DigitsData(), model=SavedModel(path=str(path)), example_limit=0)
    (damaged,) = preview(request).model_problems
    assert damaged.code == "model_file_damaged"
    monkeypatch.setattr(model_preview, "_MODEL_BYTES", 10)
    assert preview(request).model_problems == ()
    with pytest.raises(ProblemError):
        check_model_file(str(path))


@pytest.mark.parametrize("task", ["evaluate", "predict"])
def test_that_examples_of_one_class_can_be_evaluated_but_not_learned_from(
    tmp_path: Path, task: Task
) -> None:
    (tmp_path / "images" / "cat").mkdir(parents=True)
    Image.new("RGB", (4, 4)).save(tmp_path / "images" / "cat" / "a.png")
    np.savez(tmp_path / "a.npz", x=np.eye(4), y=np.zeros(4, int))
    images = ImagesData(path=str(tmp_path / "images"), image_size=(4, 4), validation_fraction=0.0)
    for data in (images, NpzData(path=str(tmp_path / "a.npz"), validation_fraction=0.0)):
        (learned,) = preview(PreviewRequest(data=data)).problems
        assert learned.code == "data_one_class"
        found = preview(PreviewRequest(data=data, task=task))
        assert found.problems == ()
        assert found.example_count == len(found.examples) > 0


def test_that_what_an_evaluating_run_would_refuse_is_found_before_it(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"

    def codes(task: Task, **arrays: np.ndarray) -> list[str]:
        np.savez(path, **arrays)
        found = preview(PreviewRequest(data=NpzData(path=str(path)), task=task))
        return [problem.code for problem in found.problems]

    odd = np.array([[1.0, np.nan], [0.0, 1.0]])
    assert codes("predict", x=odd) == ["data_array_missing", "data_features_not_finite"]
    assert codes("evaluate", x=np.eye(4), y=np.zeros(3, int)) == ["data_lengths_differ"]


def test_that_the_examples_of_further_sets_are_counted(tmp_path: Path) -> None:
    paths = {}
    for number, key in enumerate(("path", "validation_path", "test_path"), start=1):
        paths[key] = str(tmp_path / key)
        for name in ("cat", "dog"):
            (tmp_path / key / name).mkdir(parents=True)
            for place in range(number):
                Image.new("RGB", (4, 4)).save(tmp_path / key / name / f"{place}.png")
    found = preview(PreviewRequest(data=ImagesData(image_size=(4, 4), **paths)))

    assert found.problems == ()
    counts = (found.example_count, found.validation_example_count, found.test_example_count)
    assert counts == (2, 4, 6)


def test_that_the_seed_draws_the_examples() -> None:
    def labels(seed: int) -> list[str]:
        request = PreviewRequest(data=DigitsData(), seed=seed, example_limit=20)
        return [example.label for example in preview(request).examples]

    assert labels(1) == labels(1)
    assert labels(1) != labels(2)


@pytest.mark.tensorflow
def test_that_the_first_images_are_shown_as_an_epoch_changes_them() -> None:
    augmentation = {"flip": "horizontal", "brightness": 0.3, "mixup": 0.2}
    data = {"source": "digits", "augmentation": augmentation}
    done = run_forked(
        [sys.executable, "-m", "gpupanel.trainer.tools.preview"],
        input=json.dumps({"data": data, "example_limit": 12}),
        env=CHILD_ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
    )
    answer = DataPreview.model_validate_json(done.stdout)
    assert len(answer.examples) == 12
    assert len(answer.augmented) == 8
    for plain, changed in zip(answer.examples, answer.augmented, strict=False):
        assert (changed.label, changed.width) == (plain.label, 8)
        assert changed.pixels_base64 != plain.pixels_base64


def test_that_examples_that_cannot_be_changed_are_reported(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", x=np.eye(4), y=[0, 1, 0, 1])
    data = NpzData(path=str(tmp_path / "a.npz"), augmentation=Augmentation(zoom=0.1))
    answer = preview(PreviewRequest(data=data))
    assert [problem.code for problem in answer.problems] == ["augmentation_needs_pictures"]


def test_that_examples_that_are_no_images_are_reported_as_values(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", x=np.arange(40.0).reshape(4, 10), y=[0, 1, 0, 1])

    answer = preview(PreviewRequest(data=NpzData(path=str(tmp_path / "a.npz")), example_limit=1))

    (example,) = answer.examples
    assert example.width == 0
    assert example.text.endswith(", ...")
    assert answer.class_counts == (("0", 2), ("1", 2))


def test_that_float_images_and_large_ones_can_be_shown(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", x=np.random.default_rng(0).random((4, 300, 200, 3)), y=[0, 1] * 2)

    answer = preview(PreviewRequest(data=NpzData(path=str(tmp_path / "a.npz")), example_limit=1))

    (example,) = answer.examples
    assert (example.height, example.width, example.channels) == (100, 67, 3)
    shown = np.frombuffer(base64.b64decode(example.pixels_base64), np.uint8)
    assert (shown.min(), shown.max()) == (0, 255)


def test_that_problems_are_those_of_training(tmp_path: Path) -> None:
    answer = preview(PreviewRequest(data=NpzData(path=str(tmp_path / "gone.npz"))))

    assert [problem.code for problem in answer.problems] == ["data_file_missing"]


def test_that_a_fraction_that_leaves_nothing_is_reported() -> None:
    answer = preview(PreviewRequest(data=DigitsData(validation_fraction=0.0001)))

    assert [problem.code for problem in answer.problems] == ["data_validation_fraction"]


def test_that_a_bad_image_is_found_though_none_is_shown(tmp_path: Path) -> None:
    for name in ("cat", "dog"):
        (tmp_path / name).mkdir()
        Image.new("RGB", (4, 4)).save(tmp_path / name / "0.png")
    settings = ImagesData(path=str(tmp_path))
    assert preview(PreviewRequest(data=settings, example_limit=0)).problems == ()
    (tmp_path / "dog" / "1.png").write_text("no image", encoding="utf-8")

    answer = preview(PreviewRequest(data=settings, example_limit=0))

    assert [problem.code for problem in answer.problems] == ["data_image_unreadable"]


def test_that_data_that_is_not_here_is_not_downloaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))

    answer = preview(PreviewRequest(data=KerasData(source="boston_housing")))

    assert answer == DataPreview(needs_download=True, target=Target.VALUES)
    assert list(tmp_path.iterdir()) == []


def test_that_data_without_labels_is_shown_beside_what_is_wrong_with_it(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", x=np.full((5, 8, 8), 200, np.uint8))

    answer = preview(PreviewRequest(data=NpzData(path=str(tmp_path / "a.npz")), example_limit=3))

    assert [problem.field for problem in answer.problems] == ["data.labels"]
    assert (answer.example_count, answer.feature_shape) == (5, (8, 8))
    assert [(example.label, example.width) for example in answer.examples] == [("", 8)] * 3


def test_that_data_without_labels_and_with_bad_features_is_not_shown(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", x=np.array([["a"], ["b"]]), y=[[1, 2], [3, 4]])

    answer = preview(PreviewRequest(data=NpzData(path=str(tmp_path / "a.npz"), labels="z")))

    codes = [problem.code for problem in answer.problems]
    assert codes == ["data_array_missing", "data_features_not_numbers"]
    assert (answer.example_count, answer.examples) == (0, ())


def test_that_a_table_for_a_saved_model_is_read_as_its_file_says(tmp_path: Path) -> None:
    trained = tmp_path / "trained.csv"
    trained.write_text("x,kind,y\n1,a,5.5\n2,b,6.5\n")
    recipe = read_data(TableData(path=str(trained)), Reading(print)).recipe
    model = tmp_path / "model.keras"
    with zipfile.ZipFile(model, "w") as archive:
        archive.writestr("recipe.json", recipe)
    (tmp_path / "new.csv").write_text("kind,x\nb,3\nc,4\n")
    request = PreviewRequest(
        data=TableData(path=str(tmp_path / "new.csv")),
        model=SavedModel(path=str(model)),
        task="predict",
    )
    found = preview(request)
    assert (found.example_count, found.feature_shape) == (2, (3,))
    assert {example.text for example in found.examples} == {"3, 0, 1", "4, 0, 0"}
    assert (found.found["target"], found.found["predicts"]) == (("y",), "values")
    assert [problem.field for problem in found.problems] == ["data.target"]


def test_that_the_examples_of_an_epoch_are_counted_as_a_run_takes_them() -> None:
    data = DigitsData(validation_fraction=0.2)
    found = preview(PreviewRequest(data=data))
    assert (found.trained_count, found.held_out_count) == (1438, 359)
    assert found.training_count == 1438
    repeated = preview(PreviewRequest(data=data.model_copy(update={"oversample": True})))
    most = max(count for _, count in found.class_counts)
    assert 10 * most * 0.7 < repeated.trained_count <= 10 * most
    assert preview(PreviewRequest(data=data, task="evaluate")).trained_count == 0


def test_that_the_usual_size_of_images_is_that_of_their_files(tmp_path: Path) -> None:
    for name in ("cat", "dog"):
        (tmp_path / name).mkdir()
        for number in range(9):
            image = Image.new("RGB", (300, 200))
            image.save(tmp_path / name / f"{number}.png")
    Image.new("RGB", (7, 9)).save(tmp_path / "dog" / "odd.png")
    (tmp_path / "dog" / "broken.png").write_bytes(b"no image")
    data = ImagesData(path=str(tmp_path), unreadable_share=0.2)
    found = preview(PreviewRequest(data=data, example_limit=2))
    assert found.problems[0].severity is not Severity.ERROR
    assert (found.image_sides, found.feature_shape) == ((200, 300), (64, 64, 3))
    assert preview(PreviewRequest(data=DigitsData(), example_limit=2)).image_sides is None
