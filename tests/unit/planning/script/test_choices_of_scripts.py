"""Lines that a script has only where the profile needs them."""

import pytest

from gpupanel.domain.data import DigitsData, ImagesData, PythonData, TableData, Target
from gpupanel.domain.inference import InferenceSettings
from gpupanel.domain.model import ApplicationModel, MlpModel, PythonModel, SavedModel
from gpupanel.domain.table_data import MissingValues
from gpupanel.domain.training import TrainingSettings
from tests.unit.planning.script.test_stand_alone import SAVED, script

IMAGES = ImagesData(path="/data/images", validation_fraction=0.2)
OWN_MODEL = PythonModel(path="/model.py")
LATER = {"frozen_layers": 3, "fine_tune_from_epoch": 2}


def network(**chosen: object) -> ApplicationModel:
    return ApplicationModel(source="MobileNetV2", **chosen)


@pytest.mark.parametrize(
    ("model", "line"),
    [
        (network(weights="/w.h5", frozen_layers="base"), "base.load_weights('/w.h5')"),
        (network(weights="imagenet", dropout=0.2), "base.load_weights(weights)"),
        (network(weights="/w.h5", **LATER), "later_layers = layers[-3 :]"),
        (SavedModel(path="/m.keras", head="new", **LATER), "later_layers = layers[-3 :]"),
    ],
)
def test_that_layers_learn_later_or_never_as_chosen(
    model: ApplicationModel | SavedModel, line: str
) -> None:
    text = script(data=IMAGES, model=model)
    assert line in text
    assert ("for layer in later_layers:" in text) is (model.fine_tune_from_epoch is not None)


def test_that_an_untrained_network_loads_no_weights() -> None:
    assert ".load_weights(" not in script(data=IMAGES, model=network())


@pytest.mark.parametrize(
    "chosen",
    [
        {},
        {"ema": 0.9},
        {"ema": 0.9, "best_metric": "val_f1", "early_stopping_patience": 2},
        {"schedule": {"kind": "reduce_on_plateau"}},
        {"schedule": {"kind": "cosine"}, "ema": 0.9, "keep": "last"},
    ],
)
def test_that_layers_that_begin_to_learn_have_an_optimizer_of_their_own(
    chosen: dict[str, object],
) -> None:
    training = TrainingSettings.model_validate({"epochs": 4, **chosen})
    text = script(data=IMAGES, model=network(weights="/w.h5", **LATER), training=training)
    begin, _, rest = text.partition("    if epoch == 2:  # more layers begin to learn")
    later, _, _ = rest.partition("    order = ")
    follows_loss, keeps_averages = training.schedule.follows_loss, training.ema is not None
    assert ("head_optimizer = optimizer" in begin) is keeps_averages
    assert ("add_variable_from_reference" in later) is keeps_averages
    assert ("greatest = " in later) is follows_loss
    assert ("outputs_of_batch" in later) is training.best_metric.is_set_metric


def test_that_layers_learn_later_without_anything_held_back() -> None:
    training = TrainingSettings(epochs=4, ema=0.9)
    text = script(
        data=ImagesData(path="/data/images", validation_fraction=0.0),
        model=network(weights="/w.h5", **LATER),
        training=training,
    )
    assert "evaluation_step" not in text


def test_that_rows_with_empty_cells_are_no_classes_and_images_of_a_group_stay_together() -> None:
    table = TableData(
        path="/t.csv",
        target="y",
        predicts=Target.CLASSES,
        categories=("y",),
        missing=MissingValues.DROP,
    )
    dropped = "labels = [None if out else label for label, out in"
    assert dropped in script(data=table)
    by_number = table.model_copy(update={"categories": ()})
    assert dropped in script(data=by_number)
    several = TableData(path="/t.csv", target=("a", "b"), predicts=Target.LABELS)
    every = InferenceSettings(batch_size=64, examples="all")
    text = script(task="evaluate", data=several, model=SAVED, inference=every)
    assert 'class_names = recipe["class_names"]' in text
    images = {"path": "/i", "labels_csv": "/i/l.csv", "validation_fraction": 0.2}
    grouped = ImagesData(**images, group="person")
    assert "group_of.update(" in script(data=grouped)
    assert "group_of" not in script(data=ImagesData(**images))


def test_that_a_script_of_own_code_finds_inputs_outputs_and_measures_as_it_runs() -> None:
    own = script(data=PythonData(path="/d.py", validation_fraction=0.2), model=OWN_MODEL)
    for line in (
        "INPUTS = {}",
        "OUTPUTS = {}",
        "MEASURES += own_metrics",
        "shown(measured, 'val ')",
    ):
        assert line in own
    assert "OUTPUTS" not in script(data=PythonData(path="/d.py"), model=MlpModel())
    assert "OUTPUTS" not in script(data=DigitsData(), model=OWN_MODEL)


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"data": {"stratify": True}}, "data.stratify"),
        ({"data": {"oversample": True}}, "data.oversample"),
        ({"data": {"class_weights": "balanced"}}, "data.class_weights"),
        ({"data": {"augmentation": {"mixup": 0.2}}}, "data.augmentation"),
        ({"training": {"label_smoothing": 0.1}}, "training.loss"),
        ({"training": {"best_metric": "val_auc"}}, "training.best_metric"),
        ({"data": {"stratify": True, "oversample": True}}, "data.stratify, data.oversample"),
    ],
)
def test_that_what_is_of_one_label_keeps_a_script_of_own_code_to_rows(
    changes: dict[str, dict[str, object]], named: str
) -> None:
    chosen = {"path": "/d.py", "validation_fraction": 0.2, **changes.get("data", {})}
    training = TrainingSettings(**changes.get("training", {}))
    text = script(data=PythonData(**chosen), model=OWN_MODEL, training=training)
    assert "OUTPUTS" not in text
    assert f"A script of {named} does not know a loss of your own" in text


def test_that_values_are_trained_on_whatever_their_form_is() -> None:
    text = script(data=PythonData(path="/d.py", predicts=Target.VALUES), model=OWN_MODEL)
    assert "places_value_loss(outputs, labels, UNIT)" in text
    assert "values_loss(outputs, labels, DEVIATION, MEAN)" in text


def test_that_a_metric_that_arrays_have_decides_by_its_place_among_the_measures() -> None:
    training = TrainingSettings(best_metric="val_accuracy", early_stopping_patience=2)
    data = PythonData(path="/d.py", validation_fraction=0.2)
    text = script(data=data, model=OWN_MODEL, training=training)
    assert "value = -measured[0]" in text
    assert "if own_loss:\n    raise SystemExit" in text
    assert "if OUTPUTS:\n    raise SystemExit" in text
    none = data.model_copy(update={"validation_fraction": 0.0})
    text = script(data=none, model=OWN_MODEL, training=TrainingSettings())
    assert "if own_loss:\n    raise SystemExit" not in text
