"""What is looked at before a run."""

from gpupanel.domain.data import DigitsData
from gpupanel.domain.model import MlpModel, PythonModel, SavedModel
from gpupanel.domain.preview import PreviewRequest, preview_request
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
