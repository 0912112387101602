"""Examples of a run that evaluated or predicted, read back with their images."""

import base64
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gpupanel.domain.data import DigitsData, ImagesData, NpzData, PythonData
from gpupanel.domain.model import SavedModel
from gpupanel.domain.profile import Profile
from gpupanel.domain.shown_examples import ExampleChoice, ShownExamples, ShownRequest
from gpupanel.files.confusion_file import (
    ConfusionCells,
    EvaluatedExamples,
    read_confusion,
    read_evaluated,
    write_confusion,
)
from gpupanel.runs.questions.shown_examples import shown_examples as ask
from gpupanel.trainer.datasets.shown_labels import readable_label, top_classes
from gpupanel.trainer.inference.predictions import write_predictions
from gpupanel.trainer.parts.predictions import Predictions
from gpupanel.trainer.tools.shown_examples import shown_examples
from tests.fakes.questions import asked_of
from tests.unit.trainer.image_folders import make_classes, make_images

PREDICTIONS = ExampleChoice(which="predictions")
MISTAKES = ExampleChoice(which="mistakes")
NAMES = ("cat", "dog")


@pytest.fixture
def pets(tmp_path: Path) -> ImagesData:
    """Cats of brightness 40 to 42 and dogs 80 to 82, as examples 0 to 5."""
    return ImagesData(path=str(make_classes(tmp_path / "pets", {"cat": 3, "dog": 3})))


def floats(*values: float) -> np.ndarray:
    return np.asarray(values, np.float32)


def evaluated(path: Path) -> Path:
    """Of cats 0 to 2 two are taken for dogs, of dogs 3 to 5 none is taken for a cat."""
    label, predicted = np.array([0, 0, 0, 1, 1, 1]), np.array([0, 1, 1, 1, 1, 1])
    cells = ConfusionCells(np.array([0, 0, 1]), np.array([0, 1, 1]), np.array([1, 2, 3]), NAMES)
    examples = EvaluatedExamples(
        np.arange(6, dtype=np.int32),
        label.astype(np.int32),
        predicted.astype(np.int32),
        floats(0.9, 0.6, 0.75, 0.8, 0.7, 0.99),
        floats(0.9, 0.4, 0.25, 0.8, 0.7, 0.99),
    )
    write_confusion(path, cells, examples)
    return path


def shown(file: Path, choice: ExampleChoice, data: object, task: str = "evaluate") -> ShownExamples:
    profile = Profile(task=task, data=data, model=SavedModel(path="/nowhere.keras"))
    return shown_examples(ShownRequest(profile=profile, file=str(file), choice=choice))


def brightness(found: ShownExamples) -> list[int]:
    images = [each.image for each in found.examples]
    return [base64.b64decode(each.pixels_base64)[0] for each in images if each is not None]


def test_that_a_cell_shows_its_examples_with_file_label_and_probability(
    tmp_path: Path, pets: ImagesData
) -> None:
    choice = ExampleChoice(which="cell", row=0, column=1)
    found = shown(evaluated(tmp_path / "evaluation.npz"), choice, pets)
    assert found.problems == ()
    assert found.total == 2
    first, second = found.examples
    assert (first.index, first.name, first.label) == (2, "cat/2.png", "cat")
    assert [(each.name, each.probability) for each in first.predicted] == [("dog", 0.75)]
    assert first.label_probability == 0.25
    assert not first.is_right
    assert second.name == "cat/1.png"
    assert brightness(found) == [42, 41]


def test_that_the_worst_mistakes_come_first_and_nothing_right_is_among_them(
    tmp_path: Path, pets: ImagesData
) -> None:
    found = shown(evaluated(tmp_path / "evaluation.npz"), MISTAKES, pets)
    assert [each.index for each in found.examples] == [2, 1]
    later = shown(
        tmp_path / "evaluation.npz", MISTAKES.model_copy(update={"first": 1, "count": 1}), pets
    )
    assert ([each.index for each in later.examples], later.total) == ([1], 2)


def test_that_the_matrix_is_read_as_before_beside_the_examples(tmp_path: Path) -> None:
    cells = read_confusion(evaluated(tmp_path / "evaluation.npz"))
    assert cells.counts.tolist() == [1, 2, 3]
    with np.load(tmp_path / "evaluation.npz") as file:
        assert {"row", "column", "count", "class_names", "index", "probability"} <= set(file)


def test_that_an_evaluation_of_before_says_that_it_does_not_know(
    tmp_path: Path, pets: ImagesData
) -> None:
    one = np.array([0])
    write_confusion(tmp_path / "e.npz", ConfusionCells(one, one, one + 1, NAMES))
    found = shown(tmp_path / "e.npz", MISTAKES, pets)
    assert [problem.code for problem in found.problems] == ["evaluated_examples_missing"]


def predicted(path: Path, *, labels: np.ndarray | None = None, of_labels: bool = False) -> Path:
    numbers = np.array([[0.9, 0.1], [0.3, 0.7], [0.2, 0.8], [0.6, 0.4]], np.float32)
    indices = np.array([0, 2, 3, 5], np.int32)
    write_predictions(Predictions(indices, labels, NAMES, numbers, of_labels=of_labels), path)
    return path


@pytest.mark.parametrize("output", ["npz", "csv"])
def test_that_predictions_are_shown_with_images_and_their_top_classes(
    tmp_path: Path, pets: ImagesData, output: str
) -> None:
    path = predicted(tmp_path / f"predictions.{output}", labels=np.array([0, 0, 1, 1], np.int32))
    choice = PREDICTIONS.model_copy(update={"first": 1, "count": 2})
    found = shown(path, choice, pets, "predict")
    assert found.problems == ()
    assert found.total == 4
    assert [each.name for each in found.examples] == ["cat/2.png", "dog/0.png"]
    assert [each.label for each in found.examples] == ["cat", "dog"]
    top = [(each.name, round(each.probability or 0.0, 6)) for each in found.examples[0].predicted]
    assert top == [("dog", 0.7), ("cat", 0.3)]
    assert brightness(found) == [42, 80]


@pytest.mark.parametrize("output", ["npz", "csv"])
def test_that_predictions_without_labels_of_a_flat_folder_are_shown(
    tmp_path: Path, output: str
) -> None:
    root = make_classes(tmp_path / "flat", {"x": 6}) / "x"
    path = predicted(tmp_path / f"predictions.{output}")
    found = shown(path, PREDICTIONS, ImagesData(path=str(root)), "predict")
    assert [each.label for each in found.examples] == [""] * 4
    assert [each.is_right for each in found.examples] == [None] * 4
    assert brightness(found) == [40, 42, 43, 45]


@pytest.mark.parametrize("output", ["npz", "csv"])
def test_that_several_labels_and_values_are_shown_in_words(tmp_path: Path, output: str) -> None:
    labels = np.array([[1, 0], [1, 1], [0, 0], [0, 1]], np.float32)
    path = predicted(tmp_path / f"predictions.{output}", labels=labels, of_labels=True)
    np.savez(tmp_path / "x.npz", x=np.arange(12.0).reshape(6, 2), y=np.arange(6) % 2)
    data = NpzData(path=str(tmp_path / "x.npz"))
    found = shown(path, PREDICTIONS, data, "predict")
    assert [each.label for each in found.examples] == ["cat", "cat, dog", "", "dog"]
    assert found.examples[1].image is not None
    assert found.examples[1].image.text == "4, 5"
    values = Predictions(np.arange(2, dtype=np.int32), floats(1.5, 2.5), (), floats(1, 2)[:, None])
    write_predictions(values, path)
    found = shown(path, PREDICTIONS, data, "predict")
    assert [[each.name for each in one.predicted] for one in found.examples] == [["1"], ["2"]]
    assert [each.label for each in found.examples] == ["1.5", "2.5"]
    assert found.examples[0].predicted[0].probability is None


def test_that_what_cannot_be_read_of_the_data_costs_only_its_image(
    tmp_path: Path, pets: ImagesData
) -> None:
    path = predicted(tmp_path / "predictions.npz")
    (Path(pets.path) / "cat" / "2.png").write_text("none")
    found = shown(path, PREDICTIONS, pets, "predict")
    assert [each.image is not None for each in found.examples] == [True, False, True, True]
    assert [problem.code for problem in found.problems] == ["data_image_unreadable"]
    for number in (0, 1):
        (Path(pets.path) / "dog" / f"{number}.png").unlink()
    changed = shown(path, PREDICTIONS, pets, "predict")
    assert "examples_changed" in {problem.code for problem in changed.problems}
    gone = shown(path, PREDICTIONS, ImagesData(path=str(tmp_path / "gone")), "predict")
    assert [each.index for each in gone.examples] == [0, 2, 3, 5]
    assert [problem.code for problem in gone.problems] == ["data_file_missing"]


@pytest.mark.parametrize("output", ["npz", "csv"])
def test_that_an_image_stands_beside_the_name_that_was_predicted_on(
    tmp_path: Path, pets: ImagesData, output: str
) -> None:
    numbers = np.array([[0.9, 0.1], [0.3, 0.7], [0.2, 0.8]], np.float32)
    names = ("cat/1.png", "cat/gone.png", "dog/2.png")
    path = tmp_path / f"predictions.{output}"
    indices = np.array([1, 2, 5], np.int32)
    write_predictions(Predictions(indices, None, NAMES, numbers, file_names=names), path)
    # Another one comes first now.
    make_images(Path(pets.path) / "cat", {"0 new.png": 200})
    found = shown(path, PREDICTIONS, pets, "predict")
    assert [each.name for each in found.examples] == list(names)
    assert [each.image is not None for each in found.examples] == [True, False, True]
    kept = ShownExamples(examples=(found.examples[0], found.examples[2]))
    assert brightness(kept) == [41, 82]
    (problem,) = found.problems
    assert (problem.code, "cat/gone.png" in problem.message) == ("examples_changed", True)


def test_that_no_code_is_carried_out_to_show_examples(tmp_path: Path) -> None:
    (tmp_path / "code.py").write_text("raise SystemExit('carried out')")
    path = predicted(tmp_path / "predictions.npz")
    found = shown(path, PREDICTIONS, PythonData(path=str(tmp_path / "code.py")), "predict")
    assert (len(found.examples), found.problems) == (4, ())


def arrays(**changed: object) -> dict[str, object]:
    whole = {
        "index": np.arange(2),
        "predicted": np.array([0, 1]),
        "probabilities": np.eye(2, dtype=np.float32),
        "class_names": np.array(["a", "b"]),
    }
    return {name: each for name, each in {**whole, **changed}.items() if each is not None}


@pytest.mark.parametrize(
    "changed",
    [
        {"index": None},
        {"index": np.arange(3)},
        {"index": np.array("x")},
        {"probabilities": np.eye(3, dtype=np.float32)},
        {"probabilities": np.array([[{}]])},
        {"class_names": np.array(["a"])},
        {"class_names": np.arange(2)},
        {"label": np.arange(9)},
    ],
)
def test_that_a_file_of_predictions_that_somebody_made_up_is_refused(
    tmp_path: Path, changed: dict[str, object]
) -> None:
    np.savez(tmp_path / "predictions.npz", **arrays(**changed), allow_pickle=True)
    found = shown(tmp_path / "predictions.npz", PREDICTIONS, DigitsData(), "predict")
    assert [problem.code for problem in found.problems] == ["run_file_unreadable"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a,b\n1,2\n",
        "index\n1\n",
        "index,value\n1\n",
        "index,value\nx,1\n",
        "index,value\n1,x\n",
    ],
)
def test_that_a_table_of_predictions_that_somebody_made_up_is_refused(
    tmp_path: Path, text: str
) -> None:
    (tmp_path / "predictions.csv").write_text(text)
    found = shown(tmp_path / "predictions.csv", PREDICTIONS, DigitsData(), "predict")
    assert [problem.code for problem in found.problems] == ["run_file_unreadable"]


def test_that_links_and_fifos_in_the_place_of_a_file_are_refused(tmp_path: Path) -> None:
    predicted(tmp_path / "real.npz")
    (tmp_path / "predictions.npz").symlink_to(tmp_path / "real.npz")
    os.mkfifo(tmp_path / "predictions.csv")
    for name in ("predictions.npz", "predictions.csv", "none.csv"):
        found = shown(tmp_path / name, PREDICTIONS, DigitsData(), "predict")
        assert [problem.code for problem in found.problems] == ["run_file_unreadable"]


def test_that_an_evaluation_that_somebody_made_up_is_refused(tmp_path: Path) -> None:
    for name, array in (
        ("label", np.array([0, 0, 0, 1, 1, 7])),
        ("index", np.array([0, 0, 0, 1, 1, -7])),
        ("probability", np.full(6, np.nan, np.float32)),
        ("label_probability", np.zeros(5, np.float32)),
        ("predicted", np.zeros(6)),
    ):
        with np.load(evaluated(tmp_path / "e.npz")) as file:
            changed = {**file, name: array}
        np.savez(tmp_path / "e.npz", **changed)
        with pytest.raises(ValueError, match=r"an? |is none|holds"):
            read_evaluated(tmp_path / "e.npz")
        found = shown(tmp_path / "e.npz", MISTAKES, DigitsData())
        assert [problem.code for problem in found.problems] == ["run_file_unreadable"]


def test_that_the_process_answers_without_tensorflow(tmp_path: Path, pets: ImagesData) -> None:
    profile = Profile(task="evaluate", data=pets, model=SavedModel(path="/nowhere.keras"))
    path = evaluated(tmp_path / "evaluation.npz")
    request = ShownRequest(profile=profile, file=str(path), choice=MISTAKES)
    assert [each.name for each in ask(request).examples] == ["cat/2.png", "cat/1.png"]
    code = (
        "import sys; from gpupanel.trainer.tools.shown_examples import main; main();"
        "sys.exit('tensorflow' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=json.dumps(request.model_dump(mode="json")),
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("code", ["import os; os.kill(os.getpid(), 9)", "print('x')", "exit(3)"])
def test_that_a_process_that_dies_or_babbles_is_a_problem(code: str) -> None:
    request = ShownRequest(profile=Profile(), file="/x", choice=MISTAKES)
    found = asked_of(ask, code)(request)
    assert [problem.code for problem in found.problems] == ["examples_not_shown"]
    slow = asked_of(ask, "import time; time.sleep(60)")
    assert replace(slow, limit_s=0.1)(request).problems
    assert replace(ask, command=("/nowhere/python",))(request).problems


def test_that_large_values_are_written_as_everywhere_else() -> None:
    assert [each.name for each in top_classes(floats(1_475_790.1), ())] == ["1,475,790"]
    label = readable_label(floats(1_475_790.1, 2.5), (), of_labels=False)
    assert label == "1,475,790; 2.5"
