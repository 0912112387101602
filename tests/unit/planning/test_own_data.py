"""Data of one's own begins with settings that fit it, and nothing that was chosen is lost."""

import pytest

from gpupanel.domain.application_model import ApplicationModel
from gpupanel.domain.augmentation import NO_AUGMENTATION, Augmentation
from gpupanel.domain.data import DataSettings, NpzData, PythonData, TfdsData
from gpupanel.domain.images_data import ImagesData
from gpupanel.domain.model import MlpModel
from gpupanel.domain.preview import DataPreview
from gpupanel.domain.problem import Problem
from gpupanel.domain.profile import Profile
from gpupanel.domain.sweep import SweepSettings
from gpupanel.domain.table_data import TableData
from gpupanel.domain.text_data import TextData
from gpupanel.domain.training import TrainingSettings
from gpupanel.planning.own_data import (
    FEW_IMAGES,
    Fitted,
    Pretrained,
    fitted_to_data,
    may_be_fitted,
    may_use_pretrained,
    pretrained_networks,
    with_choices_since,
)
from gpupanel.planning.prepare import Known, prepare
from gpupanel.planning.starting_profile import starting_profile
from tests.fakes.devices import CPU_ONLY

SMALLEST = pretrained_networks()[0]
DOWNLOADED = Pretrained(SMALLEST, is_here=False)
IMAGES = ImagesData(path="/photos/flowers.v2", validation_fraction=0.2)


def of(data: DataSettings) -> Profile:
    return starting_profile(CPU_ONLY).model_copy(update={"data": data})


def seen(
    count: int = 160, sides: tuple[int, int] | None = (480, 640), **more: object
) -> DataPreview:
    known = {"feature_shape": (64, 64, 3), "held_out_count": 40} | more
    return DataPreview(training_count=count, trained_count=count, image_sides=sides, **known)


def fitted(
    data: DataSettings = IMAGES,
    preview: DataPreview | None = None,
    pretrained: Pretrained | None = DOWNLOADED,
) -> Fitted:
    found = fitted_to_data(of(data), preview or seen(), pretrained)
    assert found is not None
    return found


def test_that_few_images_get_a_pretrained_network_of_which_the_head_learns() -> None:
    found = fitted()
    profile, model = found.profile, found.profile.model
    assert profile.name == "flowers.v2"
    assert isinstance(model, ApplicationModel)
    assert (model.source, model.weights, model.frozen_layers) == (
        "MobileNetV3Small",
        "imagenet",
        "base",
    )
    assert profile.training.early_stopping_patience == 5
    assert profile.training.global_batch_size == 16
    assert profile.data.chosen_shape == (224, 224, 3)
    assert profile.data.chosen_augmentation.changes_images
    assert found.reason == (
        "Chosen for 160 images: MobileNetV3Small, pretrained on ImageNet (4 MB, downloaded once). "
        "With fewer than 5,000 images only its last layer learns. With augmentation and early "
        "stopping."
    )


def test_that_of_many_images_all_layers_learn_after_the_head() -> None:
    found = fitted(
        preview=seen(FEW_IMAGES, (100, 100)), pretrained=Pretrained(SMALLEST, is_here=True)
    )
    fine_tuning = found.profile.fine_tuning
    assert fine_tuning is not None
    assert (fine_tuning.from_epoch, fine_tuning.layers) == (4, None)
    assert found.profile.training.global_batch_size == 64
    assert found.profile.data.chosen_shape == (96, 96, 3)
    assert "already downloaded" in found.reason


@pytest.mark.parametrize(
    ("sides", "pretrained", "side", "why"),
    [
        ((480, 640), None, 128, "their server cannot be reached"),
        ((32, 32), Pretrained(SMALLEST, is_here=True), 32, "images of 32 pixels are too small"),
    ],
)
def test_that_other_images_get_a_small_resnet(
    sides: tuple[int, int], pretrained: Pretrained | None, side: int, why: str
) -> None:
    found = fitted(preview=seen(sides=sides), pretrained=pretrained)
    assert found.profile.model.source == "resnet"
    assert found.profile.data.chosen_shape == (side, side, 3)
    assert why in found.reason


def test_that_arrays_of_images_are_not_scaled() -> None:
    data = NpzData(path="/d/digits.npz", validation_fraction=0.2)
    assert not may_use_pretrained(data)
    found = fitted(data, seen(sides=None, feature_shape=(28, 28)))
    assert (found.profile.model.source, found.profile.name) == ("resnet", "digits")
    assert found.reason.startswith(
        "Chosen for 160 images: a small ResNet that learns from scratch."
    )


@pytest.mark.parametrize(
    ("data", "shape", "model", "begins"),
    [
        (TableData(path="/d/Houses.CSV"), (9,), "table", "Chosen for 160 rows: two dense layers"),
        (TextData(path="/d/mails"), (200,), "transformer", "Chosen for 160 texts: a small tr"),
        (NpzData(path="/d/a.npz"), (9,), "mlp", "Chosen for 160 examples: two dense layers."),
    ],
)
def test_that_tables_texts_and_numbers_get_a_network_of_their_kind(
    data: DataSettings, shape: tuple[int, ...], model: str, begins: str
) -> None:
    found = fitted(data, seen(sides=None, feature_shape=shape))
    assert found.profile.model.source == model
    assert found.reason.startswith(begins)
    assert found.profile.training.early_stopping_patience is not None
    assert found.profile.name in ("Houses", "mails", "a")


def test_that_nothing_stops_early_where_nothing_is_validated() -> None:
    found = fitted(preview=seen(held_out_count=0))
    assert found.profile.training.early_stopping_patience is None
    assert found.reason.endswith(" With augmentation.")
    table = fitted(TableData(path="/d/a.csv"), seen(feature_shape=(9,), held_out_count=0))
    assert table.reason.endswith(" of categories.")


def test_that_very_few_examples_make_one_batch() -> None:
    assert fitted(preview=seen(5)).profile.training.global_batch_size == 5


def test_that_what_was_chosen_of_the_data_stays() -> None:
    chosen = Augmentation(mixup=0.2)
    data = IMAGES.model_copy(update={"image_size": (80, 80), "augmentation": chosen})
    found = fitted(data).profile.data
    assert (found.chosen_shape[:2], found.chosen_augmentation) == ((80, 80), chosen)


def test_that_a_name_that_a_person_gave_stays() -> None:
    profile = of(IMAGES).model_copy(update={"name": "mine"})
    found = fitted_to_data(profile, seen(), None)
    assert found is not None
    assert found.profile.name == "mine"


def changed(profile: Profile, **training: object) -> Profile:
    update = {"training": profile.training.model_copy(update=training)}
    return profile.model_copy(update=update)


def test_that_what_was_changed_while_the_data_was_looked_at_stays() -> None:
    before, found = of(IMAGES), fitted()
    now = changed(before, epochs=7).model_copy(
        update={"name": "mine", "data": IMAGES.model_copy(update={"validation_fraction": 0.5})}
    )
    with_both = with_choices_since(found, before, now)
    assert with_both is not None
    made, wanted = with_both.profile, found.profile
    assert (made.name, made.training.epochs, made.data.held_out_fraction) == ("mine", 7, 0.5)
    assert made.model == wanted.model
    assert made.training == wanted.training.model_copy(update={"epochs": 7})
    assert made.data.chosen_augmentation == wanted.data.chosen_augmentation
    assert with_choices_since(found, before, before) == found


def test_that_a_model_that_was_chosen_meanwhile_stays_with_its_settings() -> None:
    before = of(IMAGES)
    now = before.model_copy(update={"model": MlpModel(hidden=(7,))})
    assert with_choices_since(fitted(), before, now) is None


def test_that_a_path_without_a_name_leaves_the_name() -> None:
    assert fitted(IMAGES.model_copy(update={"path": "/"})).profile.name == "first training"


@pytest.mark.parametrize(
    "preview",
    [
        seen(0),
        seen(feature_shape=()),
        seen(problems=(Problem(code="data_unreadable", message="It cannot be read."),)),
    ],
)
def test_that_nothing_is_fitted_to_data_that_is_not_known(preview: DataPreview) -> None:
    assert fitted_to_data(of(IMAGES), preview, None) is None


def test_that_other_data_replaces_what_was_fitted_to_the_first() -> None:
    first = fitted()
    data = first.profile.data.model_copy(update={"path": "/photos/icons"})
    profile = first.profile.model_copy(update={"data": data})
    assert may_be_fitted(profile, first)
    second = fitted_to_data(profile, seen(sides=(32, 32)), None, first)
    assert second is not None
    assert second.profile.name == "icons"
    assert second.profile.model.source == "resnet"
    assert second.profile.data.chosen_shape == (32, 32, 3)
    assert second.profile.data.chosen_augmentation != NO_AUGMENTATION


@pytest.mark.parametrize(
    "changes",
    [
        {"training": TrainingSettings(epochs=7)},
        {"model": ApplicationModel(source="ResNet50")},
        {"task": "evaluate"},
        {"sweep": SweepSettings(values={"training.epochs": (1, 2)})},
        {"data": IMAGES.model_copy(update={"files": ("a.png",)})},
        {"data": TfdsData(path="/d", name="mnist")},
        {"data": Profile().data},
    ],
)
def test_that_nothing_is_overwritten_that_a_person_chose(changes: dict[str, object]) -> None:
    assert may_be_fitted(of(IMAGES))
    assert may_be_fitted(Profile(data=IMAGES))
    assert not may_be_fitted(of(IMAGES).model_copy(update=changes))


def test_that_code_may_be_fitted_and_is_not_known() -> None:
    profile = of(PythonData(path="/d/load.py"))
    assert may_be_fitted(profile)
    assert fitted_to_data(profile, DataPreview(needs_start=True), None) is None


@pytest.mark.parametrize("pretrained", [None, Pretrained(SMALLEST, is_here=True)])
def test_that_what_is_fitted_can_be_started_without_an_error(
    pretrained: Pretrained | None,
) -> None:
    preview = seen(class_counts=(("a", 80), ("b", 80)), example_count=200)
    profile = fitted(preview=preview, pretrained=pretrained).profile
    after = preview.model_copy(update={"feature_shape": profile.data.chosen_shape})
    preparation = prepare(profile, CPU_ONLY, Known(preview=after))
    assert preparation.is_startable
    assert [p.code for p in preparation.problems if p.is_error] == []
