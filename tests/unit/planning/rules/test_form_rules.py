"""Several inputs and outputs, and labels that are arrays: only a model of one's own takes them."""

from typing import Any

import pytest

from gpupanel.domain.augmentation import Augmentation
from gpupanel.domain.best_epoch import BestMetric
from gpupanel.domain.data import ClassWeights, NpzData, Target
from gpupanel.domain.example_form import ExampleForm
from gpupanel.domain.model import CnnModel, Head, MlpModel, ModelSettings, PythonModel, SavedModel
from gpupanel.domain.preview import DataPreview
from gpupanel.domain.problem import Problem
from gpupanel.domain.profile import Profile
from gpupanel.domain.training import Loss, TrainingSettings
from gpupanel.planning.context import Known
from gpupanel.planning.fixes import apply_fix
from gpupanel.planning.own_data import fitted_to_data
from gpupanel.planning.prepare import prepare
from tests.fakes.devices import CPU_ONLY

OWN = PythonModel(path="/model.py")
INPUTS = ExampleForm(inputs={"picture": (8, 8, 3), "row": (4,)})
MASKS = ExampleForm(arrays_of=Target.CLASSES, label_shape=(8, 8))
ITSELF = ExampleForm(arrays_of=Target.VALUES, label_shape=(8, 8), learns_inputs=True)
OUTPUTS = ExampleForm(arrays_of=Target.VALUES, label_shape=(65,), outputs=("mask", "size"))
OF_FORM = {
    "examples_have_inputs",
    "labels_are_arrays",
    "augmentation_of_inputs",
    "setting_not_of_arrays",
    "best_metric_not_measured",
    "class_weights_without_classes",
    "class_weights_unknown_class",
    "oversample_without_classes",
    "loss_without_classes",
    "stratify_unused",
    "model_suggested",
    "model_images_too_small",
}


def preview_of(form: ExampleForm, **more: Any) -> DataPreview:
    shape = (196,) if form.inputs else (64, 64, 3)
    seen = {"feature_shape": shape, "example_count": 100, "training_count": 80}
    return DataPreview.model_validate({**seen, "form": form, **more})


def said(
    form: ExampleForm, model: ModelSettings = OWN, *, task: str = "train", **settings: Any
) -> list[Problem]:
    training = settings.pop("training", {})
    data = NpzData(path="/x.npz", validation_fraction=0.2, **settings)
    profile = Profile(
        data=data, model=model, task=task, training=TrainingSettings.model_validate(training)
    )
    known = Known(preview=preview_of(form))
    found = prepare(profile, CPU_ONLY, known).problems
    return [each for each in found if each.code in OF_FORM]


@pytest.mark.parametrize(
    "model", [MlpModel(), CnnModel(), SavedModel(path="/model.keras", head=Head.NEW)]
)
@pytest.mark.parametrize(
    ("form", "code", "words"),
    [
        (INPUTS, "examples_have_inputs", "the inputs picture (8, 8, 3), row (4,), and a model of"),
        (MASKS, "labels_are_arrays", "arrays of the shape (8, 8) for each example, and a model of"),
        (ITSELF, "labels_are_arrays", "the shape (8, 8)"),
    ],
)
def test_that_any_other_model_is_refused_before_a_start(
    model: ModelSettings, form: ExampleForm, code: str, words: str
) -> None:
    (problem,) = said(form, model)

    assert problem.is_error
    assert (problem.code, problem.field) == (code, "data.source")
    assert words in problem.message
    assert not said(form)
    # What a saved model takes, its file says.
    assert not said(form, SavedModel(path="/model.keras"))


@pytest.mark.parametrize("form", [MASKS, ITSELF, OUTPUTS])
@pytest.mark.parametrize(
    ("field", "settings"),
    [
        ("data.stratify", {"stratify": True}),
        ("data.oversample", {"oversample": True}),
        ("data.class_weights", {"class_weights": ClassWeights.BALANCED}),
        ("data.class_weights", {"class_weights": {"cat": 2.0}}),
        ("data.augmentation", {"augmentation": Augmentation(mixup=0.2)}),
        ("training.loss", {"training": {"loss": Loss.FOCAL}}),
        ("training.best_metric", {"training": {"best_metric": BestMetric.F1}}),
    ],
)
def test_that_a_setting_of_one_label_is_refused_once_and_can_be_left_out(
    form: ExampleForm, field: str, settings: dict[str, Any]
) -> None:
    (problem,) = said(form, **settings)

    assert problem.field == field
    assert problem.fix is not None
    data = NpzData(path="/x.npz", **{k: v for k, v in settings.items() if k != "training"})
    training = TrainingSettings.model_validate(settings.get("training", {}))
    mended = apply_fix(Profile(data=data, training=training), problem.fix)
    assert mended == Profile(data=NpzData(path="/x.npz"))


def test_that_inputs_are_not_changed_at_random() -> None:
    (problem,) = said(INPUTS, augmentation=Augmentation(mixup=0.2))
    assert (problem.code, problem.field) == ("augmentation_of_inputs", "data.augmentation")
    # With masks it is said of these.
    both = INPUTS.model_copy(update={"arrays_of": Target.CLASSES, "label_shape": (8, 8)})
    (problem,) = said(both, augmentation=Augmentation(mixup=0.2))
    assert problem.code == "setting_not_of_arrays"


def test_that_the_best_epoch_of_masks_is_that_of_what_is_measured() -> None:
    assert not said(MASKS, training={"best_metric": BestMetric.ACCURACY})
    assert not said(OUTPUTS, training={"best_metric": BestMetric.LOSS})
    (problem,) = said(OUTPUTS, training={"best_metric": BestMetric.ACCURACY})
    assert "there are several outputs" in problem.message


def test_that_nothing_is_said_of_what_is_not_trained() -> None:
    saved = SavedModel(path="/model.keras")
    assert not said(MASKS, saved, task="predict")


def test_that_no_model_is_chosen_for_data_of_such_examples() -> None:
    profile = Profile(data=NpzData(path="/x.npz"))
    assert fitted_to_data(profile, preview_of(ExampleForm()), None) is not None
    for form in (INPUTS, MASKS):
        assert fitted_to_data(profile, preview_of(form), None) is None
