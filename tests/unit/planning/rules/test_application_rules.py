"""Architectures of Keras's: what is reported before a run."""

import pytest

from gpupanel.domain.data import DigitsData, ImagesData, NpzData, PythonData, WineData
from gpupanel.domain.model import ApplicationModel, MlpModel, ModelSettings, ResNetModel, SavedModel
from gpupanel.domain.preview import DataPreview
from gpupanel.domain.problem import Problem
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.planning.context import Known
from gpupanel.planning.fixes import apply_fix
from gpupanel.planning.prepare import prepare
from gpupanel.planning.script.stand_alone import stand_alone_script
from tests.fakes.devices import CPU_ONLY

NASNET = ApplicationModel(source="NASNetMobile")
XCEPTION = ApplicationModel(source="Xception")
IMAGES = ImagesData(path="/pictures", image_size=(64, 96))


def seen(*shape: int) -> DataPreview:
    classes = (("a", 500), ("b", 500))
    return DataPreview(example_count=1000, feature_shape=shape, class_counts=classes)


def problems(profile: Profile, *shape: int) -> dict[str, Problem]:
    found = prepare(profile, CPU_ONLY, Known(preview=seen(*shape) if shape else None)).problems
    return {each.code: each for each in found}


@pytest.mark.parametrize("shape", [(32, 40, 3), (32, 32, 1), (200, 32)])
def test_that_images_that_are_large_enough_are_taken(shape: tuple[int, ...]) -> None:
    profile = Profile(data=NpzData(path="/a.npz"), model=NASNET)
    assert not [each for each in problems(profile, *shape).values() if each.is_error]


def test_that_smaller_images_are_scaled_to_more_by_a_click() -> None:
    profile = Profile(data=IMAGES, model=XCEPTION)
    problem = problems(profile, 64, 96, 3)["model_pictures_too_small"]
    assert (problem.field, problem.is_error) == ("data.image_size", True)
    assert "71x71" in problem.message
    assert problem.fix is not None
    assert apply_fix(profile, problem.fix).data == IMAGES.model_copy(
        update={"image_size": (71, 96)}
    )


def test_that_images_that_nobody_scales_want_another_network() -> None:
    problem = problems(Profile(data=NpzData(path="/a.npz"), model=XCEPTION), 64, 64)
    assert problem["model_pictures_too_small"].fix is None


@pytest.mark.parametrize("shape", [(13,), (64, 64, 7), (64, 64, 3, 3)])
def test_that_what_is_no_image_in_colours_is_refused(shape: tuple[int, ...]) -> None:
    assert "model_needs_pictures" in problems(
        Profile(data=NpzData(path="/a.npz"), model=NASNET), *shape
    )


def test_that_data_without_images_is_refused_before_it_is_read() -> None:
    assert "model_needs_pictures" in problems(Profile(data=WineData(), model=NASNET))


def test_that_weights_have_to_be_chosen() -> None:
    profile = Profile(data=IMAGES, model=NASNET.model_copy(update={"weights": ""}))
    problem = problems(profile)["model_weights_missing"]
    assert problem.fix is not None
    assert apply_fix(profile, problem.fix).model == NASNET


def test_that_layers_that_are_drawn_and_never_learn_are_a_warning() -> None:
    profile = Profile(data=IMAGES, model=NASNET.model_copy(update={"frozen_layers": "base"}))
    problem = problems(profile)["drawn_layers_frozen"]
    assert not problem.is_error
    assert problem.fix is not None
    assert apply_fix(profile, problem.fix).model == NASNET
    learned = profile.model.model_copy(update={"weights": "imagenet"})
    assert "drawn_layers_frozen" not in problems(profile.model_copy(update={"model": learned}))


def test_that_layers_of_a_saved_model_are_not_placed_on_several_devices() -> None:
    divided = StrategySettings(kind=StrategyKind.MODEL_PARALLEL)
    model = SavedModel(path="/models/model.keras")
    profile = Profile(data=IMAGES, model=model, strategy=divided)
    problem = problems(profile)["model_not_divided"]
    assert "a saved model" in problem.message
    assert problem.fix is not None
    assert "model_not_divided" not in problems(apply_fix(profile, problem.fix))


@pytest.mark.parametrize("model", [ResNetModel(), MlpModel(), NASNET])
def test_that_layers_of_networks_are_placed(model: ModelSettings) -> None:
    divided = StrategySettings(kind=StrategyKind.MODEL_PARALLEL, placement={"outputs": 0})
    profile = Profile(model=model, strategy=divided)
    assert "model_not_divided" not in problems(profile)
    text = stand_alone_script(profile, prepare(profile, CPU_ONLY).plan)
    # Only layers that are known before anything is built are placed by a script, too.
    assert ("PLACEMENT" in text) is (model.stack is not None)
    assert ("The mathematics is that of one" in text) is (model.stack is None)


def test_that_a_script_takes_the_whole_batch_where_replicas_have_layers_it_cannot_place() -> None:
    strategy = StrategySettings(
        kind=StrategyKind.MODEL_PARALLEL, devices_per_replica=2, shares=(48, 16)
    )
    devices = DeviceSettings(visible=("cpu",), cpu_replicas=4)
    profile = Profile(model=ResNetModel(), strategy=strategy, devices=devices)
    text = stand_alone_script(profile, prepare(profile, CPU_ONLY).plan)
    assert 'OneDeviceStrategy("/device:CPU:0")' in text
    assert "48" not in text


def script(model: ApplicationModel, data: object = IMAGES) -> str:
    profile = Profile(data=data, model=model)
    plan = prepare(profile, CPU_ONLY).plan
    assert plan is not None
    text = stand_alone_script(profile, plan)
    compile(text, "script.py", "exec")
    return text


def test_that_a_script_has_only_what_the_settings_need() -> None:
    plain = script(NASNET)
    assert "layers[: -" not in plain
    assert "for layer in layers" not in plain
    assert "load_weights" not in plain
    assert "trainable = False" not in plain
    assert "pixels = rgb_pixels(inputs, 255)" in plain
    few = script(NASNET.model_copy(update={"frozen_layers": 3, "weights": "/w's.h5"}))
    assert "layers[: -3]" in few
    assert 'base.load_weights("/w\'s.h5")' in few
    head = script(NASNET.model_copy(update={"frozen_layers": "base", "dropout": 0.5}))
    assert "for layer in layers:" in head
    assert "Dropout(0.5" in head
    assert "rgb_pixels(inputs, 16)" in script(NASNET, DigitsData())
    by_code = script(NASNET, PythonData(path="/data.py"))
    assert "rgb_pixels(inputs, 1 if is_to_1 else 255)" in by_code


def test_that_a_script_fetches_the_weights_that_keras_publishes() -> None:
    text = script(NASNET.model_copy(update={"weights": "imagenet"}))
    assert '"nasnet_mobile_no_top.h5"' in text
    assert "/NASNet-mobile-no-top.h5" in text
    assert "file_hash=" in text
    unknown = script(ApplicationModel(source="MobileNet", weights="imagenet"))
    assert "file_hash=" not in unknown
