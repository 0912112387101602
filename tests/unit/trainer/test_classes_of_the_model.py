"""Classes belong to the model: labels of other data are matched with them by name."""

import csv
import json
import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from gpupanel.domain.data import DataSettings, ImagesData, NpzData, Target
from gpupanel.domain.inference import InferenceSettings
from gpupanel.domain.model import SavedModel
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.task import Task
from gpupanel.domain.trained_on import TRAINED_ON_MEMBER, TrainedOn
from gpupanel.planning.fixes import apply_fix
from gpupanel.trainer.datasets.source import Reading, no_download
from gpupanel.trainer.inference.examples import InferenceExamples, read_inference_examples
from gpupanel.trainer.inference.predictions import write_predictions
from gpupanel.trainer.inference.written_predictions import read_predictions
from gpupanel.trainer.parts.predictions import Predictions
from tests.unit.trainer.image_folders import make_classes, make_images

PETS = ("cat", "dog", "wolf")


def model_of(
    folder: Path, names: Sequence[str] = PETS, target: Target = Target.CLASSES, outputs: int = 3
) -> Path:
    """A file that says what a run's would; nothing of it is loaded here."""
    path = folder / "model.keras"
    last = {"name": "outputs", "units": outputs, "activation": "linear"}
    dense = {"class_name": "Dense", "config": last}
    layers = {"class_name": "Sequential", "config": {"layers": [dense]}}
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("config.json", json.dumps(layers))
        if names or target is Target.VALUES:
            record = TrainedOn(predicts=target, class_names=tuple(names), data="elsewhere")
            archive.writestr(TRAINED_ON_MEMBER, record.model_dump_json())
    return path


def profile_of(model: Path, data: DataSettings, task: Task = "evaluate", **chosen: str) -> Profile:
    return Profile(
        task=task,
        data=data,
        model=SavedModel(path=str(model)),
        inference=InferenceSettings.model_validate(chosen),
    )


def examples_of(profile: Profile) -> InferenceExamples:
    return read_inference_examples(profile, Reading(no_download))


def refusal_of(profile: Profile) -> Problem:
    with pytest.raises(ProblemError) as raised:
        examples_of(profile)
    (problem,) = raised.value.problems
    return problem


def said(examples: InferenceExamples) -> list[str]:
    assert examples.labels is not None
    return [examples.class_names[int(label)] for label in examples.labels]


def test_that_folders_in_another_order_have_the_names_of_the_model(tmp_path: Path) -> None:
    folder = make_classes(tmp_path / "new", {"dog": 2, "cat": 1, "wolf": 1})
    # As somebody's Python code numbered them.
    model = model_of(tmp_path, ("wolf", "dog", "cat"))
    found = examples_of(profile_of(model, ImagesData(path=str(folder))))
    assert found.class_names == ("wolf", "dog", "cat")
    assert said(found) == ["cat", "dog", "dog", "wolf"]


def test_that_an_unknown_class_is_refused_by_name_and_each_fix_is_a_way_on(tmp_path: Path) -> None:
    folder = make_classes(tmp_path / "new", {"cat": 2, "dog": 1, "fox": 3})
    profile = profile_of(model_of(tmp_path), ImagesData(path=str(folder)))
    problem = refusal_of(profile)
    assert problem.code == "class_unknown"
    assert '"fox"' in problem.message
    assert problem.fix is not None

    left = examples_of(apply_fix(profile, problem.fix))
    assert said(left) == ["cat", "cat", "dog"]
    assert left.indices.tolist() == [0, 1, 2]
    assert [note.code for note in left.notes] == ["classes_left_out"]

    (predict,) = problem.alternatives
    found = examples_of(apply_fix(profile, predict))
    assert (len(found), found.labels, found.class_names) == (6, None, PETS)


def test_that_missing_classes_and_folders_without_images_refuse_nothing(tmp_path: Path) -> None:
    folder = make_classes(tmp_path / "new", {"dog": 1, "wolf": 2, "cat": 0})
    (folder / "notes").mkdir()
    (folder / "notes" / "read.me").write_text("no image")
    for task in ("evaluate", "predict"):
        found = examples_of(profile_of(model_of(tmp_path), ImagesData(path=str(folder)), task))
        assert said(found) == ["dog", "wolf", "wolf"]


def test_that_a_name_is_the_same_in_another_unicode_form(tmp_path: Path) -> None:
    folder = make_classes(tmp_path / "new", {"cafe\u0301": 1, "the": 1})
    model = model_of(tmp_path, ("the", "caf\u00e9"), outputs=2)
    found = examples_of(profile_of(model, ImagesData(path=str(folder))))
    assert said(found) == ["caf\u00e9", "the"]


def test_that_images_alone_get_the_names_of_the_model(tmp_path: Path) -> None:
    folder = make_images(tmp_path / "new", {"a.png": 1, "b.png": 2})
    found = examples_of(profile_of(model_of(tmp_path), ImagesData(path=str(folder)), "predict"))
    assert (found.class_names, found.class_count_is_known, found.labels) == (PETS, True, None)


def test_that_predicting_takes_images_beside_folders_too(tmp_path: Path) -> None:
    folder = make_classes(tmp_path / "new", {"cat": 1, "else": 2})
    make_images(folder, {"top.png": 1})
    found = examples_of(profile_of(model_of(tmp_path), ImagesData(path=str(folder)), "predict"))
    assert (len(found), found.labels) == (4, None)


def test_that_a_model_without_names_says_in_which_order_it_is_read(tmp_path: Path) -> None:
    folder = make_classes(tmp_path / "new", {"one": 1, "two": 1, "six": 1})
    profile = profile_of(model_of(tmp_path, ()), ImagesData(path=str(folder)))
    note, unknown = examples_of(profile).notes
    assert note.code == "model_without_class_names"
    assert unknown.code == "learned_from_unknown"  # its file does not say that either
    assert '"one", "six", "two"' in note.message
    assert note.fix is not None
    found = examples_of(apply_fix(profile, note.fix))
    assert (found.notes, said(found)) == ((unknown,), ["one", "six", "two"])

    named = SavedModel(path=profile.model.chosen_path, class_names=("six", "two", "one"))
    found = examples_of(profile.model_copy(update={"model": named}))
    assert found.labels is not None
    assert found.labels.tolist() == [2, 0, 1]
    short = named.model_copy(update={"class_names": ("six", "two")})
    problem = refusal_of(profile.model_copy(update={"model": short}))
    assert problem.code == "class_names_misfit"


def test_that_a_model_without_names_that_predicts_on_other_classes_numbers_them_and_says_so(
    tmp_path: Path,
) -> None:
    folder = make_classes(tmp_path / "new", {"one": 1, "two": 1})
    found = examples_of(profile_of(model_of(tmp_path, ()), ImagesData(path=str(folder)), "predict"))
    assert (found.labels, found.class_names) == (None, ())
    assert [note.code for note in found.notes] == ["model_without_class_names"]


def test_that_numbers_for_named_classes_are_said(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", x=np.ones((2, 4)), y=[0, 1])
    data = NpzData(path=str(tmp_path / "a.npz"))
    found = examples_of(profile_of(model_of(tmp_path), data))
    assert said(found) == ["cat", "dog"]
    assert [note.code for note in found.notes] == ["classes_matched_by_number"]

    found = examples_of(profile_of(model_of(tmp_path, ("0", "1", "2")), data))
    assert (said(found), found.class_names, found.notes) == (["0", "1"], ("0", "1", "2"), ())


@pytest.mark.parametrize(
    ("names", "labels"),
    [
        # As folders have them, sorted as text: 2 is no third class.
        ([str(number) for number in range(12)], [0, 2, 10, 11]),
        (["1", "2", "3"], [1, 3, 3]),
        (["1", "10", "2"], [1, 2, 10]),
        (["0", "5"], [0, 5]),
    ],
)
def test_that_numbers_that_the_model_has_as_names_are_names(
    tmp_path: Path, names: list[str], labels: list[int]
) -> None:
    np.savez(tmp_path / "a.npz", x=np.ones((len(labels), 4)), y=labels)
    model = model_of(tmp_path, sorted(names), outputs=len(names))
    for task in ("evaluate", "predict"):
        found = examples_of(profile_of(model, NpzData(path=str(tmp_path / "a.npz")), task))
        assert said(found) == [str(label) for label in labels]
        assert not found.notes
    # Where one of them is no name, they count the classes.
    np.savez(tmp_path / "b.npz", x=np.ones((2, 4)), y=[0, 1])
    found = examples_of(profile_of(model, NpzData(path=str(tmp_path / "b.npz"))))
    is_named = {"0", "1"} <= {*names}
    assert said(found) == (["0", "1"] if is_named else sorted(names)[:2])
    assert [note.code for note in found.notes] == (
        [] if is_named else ["classes_matched_by_number"]
    )


def test_that_names_for_numbered_classes_are_refused_and_can_be_given(tmp_path: Path) -> None:
    folder = make_classes(tmp_path / "new", {"cat": 1, "dog": 1, "wolf": 1})
    profile = profile_of(model_of(tmp_path, ("0", "1", "2")), ImagesData(path=str(folder)))
    problem = refusal_of(profile)
    assert (problem.code, problem.fix is not None) == ("class_unknown", True)
    assert problem.fix is not None
    assert said(examples_of(apply_fix(profile, problem.fix))) == list(PETS)


def test_that_labels_are_matched_by_the_names_of_their_columns(tmp_path: Path) -> None:
    folder = make_images(tmp_path / "new", {"a.png": 1, "b.png": 2})
    (folder / "labels.csv").write_text("file,soft,red\na.png,1,0\nb.png,1,1\n")
    model = model_of(tmp_path, ("red", "soft"), Target.LABELS, 2)
    data = ImagesData(path=str(folder), labels_csv="labels.csv")
    found = examples_of(profile_of(model, data))
    assert found.class_names == ("red", "soft")
    assert found.labels is not None
    assert found.labels.tolist() == [[0.0, 1.0], [1.0, 1.0]]

    wider = model_of(tmp_path, ("red", "soft", "round"), Target.LABELS)
    problem = refusal_of(profile_of(wider, data))
    assert (problem.code, '"round"' in problem.message) == ("label_missing", True)
    assert examples_of(profile_of(wider, data, "predict")).labels is None


def test_that_labels_are_read_as_what_the_model_was_trained_on(tmp_path: Path) -> None:
    # Classes as floats, of which some are missing: alone they would be values.
    np.savez(tmp_path / "a.npz", x=np.ones((2, 4)), y=np.array([0.0, 2.0]))
    data = NpzData(path=str(tmp_path / "a.npz"))
    model = model_of(tmp_path, ("0", "1", "2"))
    assert said(examples_of(profile_of(model, data))) == ["0", "2"]

    values = model_of(tmp_path, (), Target.VALUES, 1)
    folder = make_classes(tmp_path / "new", {"cat": 1, "dog": 1})
    images = ImagesData(path=str(folder))
    assert refusal_of(profile_of(values, images)).code == "model_predicts_otherwise"
    found = examples_of(profile_of(values, images, "predict"))
    assert (found.target, found.labels) == (Target.VALUES, None)


def test_that_a_record_that_is_none_is_a_damaged_file(tmp_path: Path) -> None:
    model = model_of(tmp_path, ())
    with zipfile.ZipFile(model, "a") as archive:
        archive.writestr(TRAINED_ON_MEMBER, '{"class_names": 7}')
    folder = make_images(tmp_path / "new", {"a.png": 1})
    problem = refusal_of(profile_of(model, ImagesData(path=str(folder)), "predict"))
    assert problem.code == "model_file_damaged"


def test_that_predictions_of_images_are_a_table_with_the_name_of_each_file(
    tmp_path: Path,
) -> None:
    folder = make_images(tmp_path / "new", {"b.png": 2, "a, b.png": 1, "in/c.png": 3})
    data = ImagesData(path=str(folder))
    profile = profile_of(model_of(tmp_path), data, "predict")
    found = examples_of(profile)
    assert found.file_names == ("a, b.png", "b.png", "in/c.png")
    assert profile.inference.output_of(data) == "csv"
    assert profile.inference.output_of(NpzData(path="a.npz")) == "npz"

    predictions = Predictions(
        indices=found.indices,
        labels=None,
        class_names=found.class_names,
        numbers=np.float32([[0.25, 0.5, 0.25]] * 3),
        file_names=found.file_names,
    )
    path = tmp_path / "predictions.csv"
    write_predictions(predictions, path)
    with path.open(newline="") as file:
        head, first, *_ = csv.reader(file)
    assert head[:4] == ["index", "file", "predicted_name", "predicted"]
    assert first[:4] == ["0", "a, b.png", "dog", "1"]
    shown = read_predictions(path, 0, 9)
    assert (shown.examples[0].predicted[0].name, shown.examples[0].label) == ("dog", "")
    assert shown.total == 3
    write_predictions(predictions, tmp_path / "predictions.npz")
    with np.load(tmp_path / "predictions.npz") as arrays:
        assert tuple(arrays["file_name"]) == found.file_names
