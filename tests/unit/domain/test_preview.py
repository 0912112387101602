"""What is looked at before a run."""

from gpupanel.domain.data import DigitsData, NpzData, Target
from gpupanel.domain.model import MlpModel, PythonModel, SavedModel
from gpupanel.domain.preview import DataPreview, PreviewRequest, preview_request, with_found
from gpupanel.domain.profile import Profile


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

    filled = with_found(profile, DataPreview(found=found))

    assert filled.data == NpzData(
        path="/x.npz", features="x_train", labels="chosen", predicts=Target.VALUES
    )
    assert with_found(filled, DataPreview(found=found)) is filled
    assert with_found(Profile(), DataPreview(found={"predicts": "classes"})) == Profile()


def test_that_a_model_has_an_output_for_each_class_label_or_value() -> None:
    assert DataPreview(class_counts=(("a", 3), ("b", 0))).output_count == 2
    assert DataPreview(target=Target.VALUES, value_count=3).output_count == 3
    assert DataPreview().output_count is None
