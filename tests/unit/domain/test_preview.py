"""What is looked at before a run."""

from gpupanel.domain.data import DigitsData, Holdout, ImagesData, NpzData, TableData, Target
from gpupanel.domain.inference import InferenceSettings
from gpupanel.domain.model import MlpModel, PythonModel, SavedModel
from gpupanel.domain.preview import DataPreview, EvaluatedPreview, PreviewRequest
from gpupanel.domain.previewed_profile import preview_request, with_detected
from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.profile import Profile
from gpupanel.domain.trained_on import HeldOut


def test_that_the_data_and_the_file_of_the_model_are_previewed_as_the_task_needs_them() -> None:
    saved = Profile(task="predict", model=SavedModel(path="/m.keras"))
    assert preview_request(saved, 24) == PreviewRequest(
        data=saved.data,
        model=saved.model,
        task="predict",
        seed=saved.training.seed,
        example_limit=24,
    )
    assert preview_request(Profile(model=PythonModel(path="/m.py"))).model is not None
    built_here = preview_request(Profile(data=DigitsData(), model=MlpModel()))
    assert (built_here.model, built_here.task, built_here.example_limit) == (None, "train", 0)


def test_that_what_a_preview_found_fills_what_was_left_out() -> None:
    profile = Profile(data=NpzData(path="/x.npz", labels="chosen"))
    found = {"features": "x_train", "labels": "y_train", "predicts": "values", "unknown": "1"}

    filled = with_detected(profile, DataPreview(found=found))

    assert filled.data == NpzData(
        path="/x.npz", features="x_train", labels="chosen", predicts=Target.VALUES
    )
    assert with_detected(filled, DataPreview(found=found)) is filled
    assert with_detected(Profile(), DataPreview(found={"predicts": "classes"})) == Profile()


def test_that_the_folders_of_sets_that_were_found_are_taken_for_the_chosen_one() -> None:
    profile = Profile(data=ImagesData(path="/i"))
    found = {"path": "/i/train", "test_path": "/i/test", "predicts": "classes"}
    assert with_detected(profile, DataPreview(found=found)).data == ImagesData(
        path="/i/train", test_path="/i/test", predicts="classes"
    )


def test_that_data_is_refused_for_errors_alone() -> None:
    hint = Problem(code="odd", severity=Severity.HINT, message="Odd.")
    assert not DataPreview(problems=(hint,)).is_refused
    assert DataPreview(problems=(hint, Problem(code="bad", message="Bad."))).is_refused


def test_that_a_model_has_an_output_for_each_class_label_or_value() -> None:
    assert DataPreview(class_counts=(("a", 3), ("b", 0))).output_count == 2
    assert DataPreview(target=Target.VALUES, value_count=3).output_count == 3
    assert DataPreview().output_count is None


def test_that_a_list_that_was_chosen_in_part_is_filled_up_with_what_was_found() -> None:
    data = TableData(path="t.csv", categories=("zip",), ignore=("id",))
    found = {"categories": ("zip", "colour"), "target": ("y",), "ignore": ("other",)}
    filled = with_detected(Profile(data=data), DataPreview(found=found)).data
    assert isinstance(filled, TableData)
    assert filled.categories == ("zip", "colour")
    assert (filled.target, filled.ignore) == ("y", ("id",))


def test_that_the_examples_of_an_evaluation_are_chosen_as_its_preview_found_them() -> None:
    data = ImagesData(path="/i", validation_path="/v", validation_fraction=0.5)
    profile = Profile(task="evaluate", data=data, model=SavedModel(path="/m.keras"))
    how = HeldOut(held_out_fraction=0.2, holdout=Holdout.LAST, stratify=True, fold=3, seed=3)
    held_out = DataPreview(evaluated=EvaluatedPreview(which="validation", count=8, held_out=how))
    filled = with_detected(profile, held_out)
    assert filled.data == ImagesData(
        path="/i", validation_fraction=0.2, holdout=Holdout.LAST, stratify=True, fold=3
    )
    assert (filled.inference.examples, filled.training.seed) == ("validation", 3)

    for how in (None, HeldOut()):
        whole = EvaluatedPreview(which="all", count=8, held_out=how)
        filled = with_detected(profile, DataPreview(evaluated=whole))
        assert (filled.data, filled.inference.examples) == (data, "all")
    chosen = profile.model_copy(update={"inference": InferenceSettings(examples="training")})
    predicting = profile.model_copy(update={"task": "predict"})
    for asked in (chosen, predicting):
        assert with_detected(asked, held_out) is asked
