"""Models and steps that cannot fit into the memory of this machine, whatever is tried."""

from typing import Any

import pytest

from gpupanel.domain.data import (
    DataSettings,
    DigitsData,
    ImagesData,
    NpzData,
    TextData,
    WineData,
)
from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.example_form import ExampleForm
from gpupanel.domain.model import (
    CnnModel,
    MlpModel,
    ModelSettings,
    PythonModel,
    ResNetModel,
    TabularModel,
    TransformerModel,
)
from gpupanel.domain.optimizer import Optimizer
from gpupanel.domain.preview import DataPreview
from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.training import TrainingSettings
from gpupanel.planning.context import Known
from gpupanel.planning.fixes import apply_fix
from gpupanel.planning.layers import model_layers
from gpupanel.planning.prepare import prepare
from gpupanel.planning.rules.model_size_rules import least_parameters
from tests.fakes.devices import CPU, CPU_ONLY, RTX_3060, RTX_4090, TWO_UNEQUAL

ON_THE_CPU = DeviceSettings(visible=("cpu",))


def problems(
    profile: Profile,
    inventory: DeviceInventory = CPU_ONLY,
    preview: DataPreview | None = None,
) -> list[Problem]:
    """Those of the size, the plan being there all the same."""
    preparation = prepare(profile, inventory, Known(preview=preview))
    assert preparation.plan is not None
    found = ("model_above_memory", "step_above_memory", "data_above_memory")
    return [problem for problem in preparation.problems if problem.code in found]


def with_hidden(*hidden: int, **parts: Any) -> Profile:
    return Profile(**{"devices": ON_THE_CPU, "model": MlpModel(hidden=hidden), **parts})


def test_that_a_model_beyond_any_memory_is_refused_with_the_figures() -> None:
    (problem,) = problems(with_hidden(2**31 - 1, 1_000))

    assert problem.is_error
    assert problem.field == "model.hidden"
    # (2**31 - 1) * 1,000 weights of 4 bytes, and twice as much for adam.
    assert "take 8,016.0 GiB at least" in problem.message
    assert "with the state of adam 24,048.0 GiB" in problem.message
    assert "a CPU has 24.0 GiB" in problem.message
    assert problem.hint


def test_that_a_model_that_fits_only_without_its_gradients_is_a_warning() -> None:
    # 40,000 * 40,000 * 4 bytes are 6 GiB: 18 GiB with adam's, 24 GiB with gradients.
    (problem,) = problems(with_hidden(40_150, 40_150))

    assert problem.severity is Severity.WARNING
    assert "gradients and the state of adam" in problem.message


def test_that_a_model_that_fits_is_no_problem() -> None:
    assert problems(with_hidden(4_096, 4_096)) == []


@pytest.mark.parametrize(
    ("optimizer", "momentum", "ema", "slots"),
    [
        (Optimizer.ADAM, 0.0, None, 2),
        (Optimizer.ADAMW, 0.0, None, 2),
        (Optimizer.SGD, 0.0, None, 0),
        (Optimizer.SGD, 0.9, None, 1),
        (Optimizer.SGD, 0.9, 0.99, 2),
        (Optimizer.RMSPROP, 0.0, None, 1),
        (Optimizer.RMSPROP, 0.9, None, 2),
        (Optimizer.LION, 0.0, None, 1),
        (Optimizer.LION, 0.0, 0.99, 2),
    ],
)
def test_that_what_an_optimizer_keeps_counts_with_averages(
    optimizer: Optimizer, momentum: float, ema: float | None, slots: int
) -> None:
    # Weights of 7 GiB: three copies fit into 24 GiB, four do not.
    training = TrainingSettings(optimizer=optimizer, momentum=momentum, ema=ema)
    found = problems(with_hidden(43_300, 43_300, training=training))

    assert [problem.severity for problem in found] == ([Severity.WARNING] if slots == 2 else [])


def test_that_every_copy_counts_where_replicas_share_a_memory() -> None:
    devices = DeviceSettings(visible=("cpu",), cpu_replicas=4)
    mirrored = StrategySettings(kind=StrategyKind.MIRRORED)
    profile = with_hidden(24_000, 24_000, devices=devices, strategy=mirrored)

    (problem,) = problems(profile)

    assert problem.is_error
    assert "in 4 copies" in problem.message
    assert problems(with_hidden(24_000, 24_000)) == []
    central = StrategySettings(kind=StrategyKind.CENTRAL_STORAGE)
    assert problems(with_hidden(24_000, 24_000, devices=devices, strategy=central)) == []
    idle = StrategySettings(kind=StrategyKind.MIRRORED, shares=(64, 0, 0, 0))
    assert problems(with_hidden(24_000, 24_000, devices=devices, strategy=idle)) == []


def test_that_each_worker_holds_a_copy_and_parameter_servers_hold_one() -> None:
    for kind, expected in ((StrategyKind.MULTI_WORKER, 1), (StrategyKind.PARAMETER_SERVER, 0)):
        strategy = StrategySettings(kind=kind, workers=4)
        assert len(problems(with_hidden(24_000, 24_000, strategy=strategy))) == expected


def test_that_the_smallest_gpu_decides_where_each_holds_a_copy() -> None:
    mirrored = StrategySettings(kind=StrategyKind.MIRRORED)
    profile = Profile(model=MlpModel(hidden=(36_000, 36_000)), strategy=mirrored)

    (problem,) = problems(profile, TWO_UNEQUAL)

    assert RTX_3060.name in problem.message
    assert problem.is_error


def test_that_layers_on_several_devices_have_the_memory_of_all() -> None:
    parallel = StrategySettings(kind=StrategyKind.MODEL_PARALLEL, placement="auto")
    profile = Profile(model=MlpModel(hidden=(43_300, 43_300)), strategy=parallel)
    assert problems(profile, TWO_UNEQUAL) == []

    larger = profile.model_copy(update={"model": MlpModel(hidden=(60_000, 60_000))})
    (problem,) = problems(larger, TWO_UNEQUAL)
    assert "RTX 4090 + RTX 3060 has 36.0 GiB" in problem.message


@pytest.mark.parametrize("kind", [StrategyKind.MIRRORED, StrategyKind.MODEL_PARALLEL])
def test_that_a_gpu_that_does_not_report_its_memory_is_not_refused(kind: StrategyKind) -> None:
    silent = RTX_4090.model_copy(update={"memory_total_mib": None})
    inventory = DeviceInventory(devices=(silent, silent.model_copy(update={"key": "b"}), CPU))
    profile = Profile(
        model=MlpModel(hidden=(200_000, 200_000)), strategy=StrategySettings(kind=kind)
    )
    assert problems(profile, inventory) == []


def test_that_a_model_that_code_builds_is_not_refused() -> None:
    assert model_layers(PythonModel(path="model.py")) == ()
    assert least_parameters(Profile(model=PythonModel(path="model.py"))) == 0


@pytest.mark.parametrize(
    ("model", "data"),
    [
        (TransformerModel(width=2_000_000_000), TextData(path="/texts")),
        (TransformerModel(hidden_units=2_000_000_000), TextData(path="/texts")),
        (ResNetModel(filters=(200_000,)), DigitsData()),
        (TabularModel(hidden=(200_000, 200_000)), WineData()),
    ],
)
def test_that_a_network_larger_than_the_memory_is_refused(
    model: ModelSettings, data: DataSettings
) -> None:
    profile = Profile(devices=ON_THE_CPU, data=data, model=model)
    found = {problem.code: problem for problem in problems(profile)}
    assert found["model_above_memory"].is_error
    assert found["model_above_memory"].field in ("model.source", "model.hidden")


def test_that_what_is_not_known_of_the_data_counts_as_little_as_it_can() -> None:
    mlp = Profile(model=MlpModel(hidden=(10,)))
    assert least_parameters(mlp) == (1 + 1) * 10 + (10 + 1) * 1
    assert least_parameters(mlp, (8, 8), 10) == (64 + 1) * 10 + (10 + 1) * 10
    cnn = Profile(model=CnnModel(filters=(4,)))
    assert least_parameters(cnn) == (9 + 1) * 4 + (4 + 1) * 1
    assert least_parameters(cnn, (3,)) == least_parameters(cnn)
    assert least_parameters(cnn, (8, 8, 3), 2) == (27 + 1) * 4 + (16 * 4 + 1) * 2


def test_that_the_classes_of_the_data_count() -> None:
    # 100,000 outputs of 30,000 units: 11 GiB of weights.
    data = NpzData(path="x.npz", class_count=100_000)
    assert problems(with_hidden(30_000, data=data))
    assert not problems(with_hidden(30_000, data=NpzData(path="x.npz")))
    preview = DataPreview(
        example_count=200_000,
        feature_shape=(4,),
        class_counts=tuple((str(number), 2) for number in range(100_000)),
    )
    data = NpzData(path="x.npz")
    assert problems(with_hidden(30_000, data=data), preview=preview)


def test_that_a_step_whose_examples_do_not_fit_is_refused() -> None:
    data = ImagesData(path="pictures", image_size=(16_384, 16_384))
    profile = with_hidden(data=data)

    (problem,) = problems(profile)

    assert problem.code == "step_above_memory"
    assert problem.is_error
    # 64 images of 3 GiB.
    assert "The 64 examples that a replica takes at a time need 192.0 GiB" in problem.message
    grey = data.model_copy(update={"color": "grayscale"})
    training = TrainingSettings(global_batch_size=64, accumulation_steps=4)
    assert problems(with_hidden(data=grey, training=training)) == []


def test_that_what_convolutions_give_is_counted() -> None:
    model = ResNetModel(filters=(16, 32), blocks=3)
    # 2 * 3 convolutions of 16 filters, then as many of 32 over half the height and width.
    assert model.least_activations((9, 6, 3)) == 6 * 16 * 9 * 6 + 6 * 32 * 5 * 3
    profile = Profile(
        devices=ON_THE_CPU, data=ImagesData(path="images", image_size=(1_024, 1_024)), model=model
    )
    assert [problem.code for problem in problems(profile)] == ["step_above_memory"]


def test_that_attention_over_long_texts_is_refused_where_it_cannot_fit() -> None:
    texts = TextData(path="/texts", length=10_000)
    profile = Profile(devices=ON_THE_CPU, data=texts, model=TransformerModel(heads=8, blocks=2))

    (problem,) = problems(profile)

    # 64 examples: 16 times 10,000 * 10,000 numbers, and 10,000 * (64 + 2 * 128).
    assert (problem.code, problem.is_error) == ("step_above_memory", True)
    assert "need 382.2 GiB at least" in problem.message
    short = texts.model_copy(update={"length": 200})
    assert problems(profile.model_copy(update={"data": short})) == []


def test_that_no_more_examples_count_than_there_are() -> None:
    preview = DataPreview(example_count=1_000, feature_shape=(64, 64, 3))
    training = TrainingSettings(global_batch_size=2**31 - 1)
    assert problems(Profile(devices=ON_THE_CPU, training=training), preview=preview) == []


def test_that_other_tasks_are_not_measured_by_what_training_takes() -> None:
    assert problems(with_hidden(2**31 - 1, 1_000, task="evaluate")) == []


def test_that_images_that_do_not_fit_into_memory_twice_are_kept_on_the_disk() -> None:
    data = ImagesData(path="pictures", image_size=(1_000, 1_000))
    preview = DataPreview(example_count=5_000, feature_shape=(1_000, 1_000, 3))
    profile = with_hidden(data=data)

    (problem,) = problems(profile, preview=preview)

    assert problem.code == "data_above_memory"
    assert problem.is_error
    assert "5,000 images of 1,000x1,000 pixels take 27.9 GiB in memory" in problem.message
    assert problem.fix is not None
    assert problems(apply_fix(profile, problem.fix), preview=preview) == []
    few = preview.model_copy(update={"example_count": 1_000})
    assert problems(profile, preview=few) == []


def test_that_pixels_beside_numbers_take_four_times_as_much() -> None:
    data = ImagesData(path="pictures", image_size=(1_000, 1_000), labels_csv="l.csv", numbers=["a"])
    form = ExampleForm(inputs={"image": (1_000, 1_000, 3), "numbers": (1,)})
    preview = DataPreview(example_count=1_250, feature_shape=(3_000_001,), form=form)
    profile = with_hidden(data=data, model=PythonModel(path="/model.py"))

    (problem,) = problems(profile, preview=preview)

    assert problem.code == "data_above_memory"
    assert "1,250 images of 1,000x1,000 pixels take 27.9 GiB in memory" in problem.message


def test_that_images_in_memory_and_the_model_must_fit_together() -> None:
    # 12 images are 18 GiB, and the weights of one output 3 GiB, three times with adam's.
    data = ImagesData(path="pictures", image_size=(16_384, 16_384))
    preview = DataPreview(example_count=12, feature_shape=(16_384, 16_384, 3))
    training = TrainingSettings(global_batch_size=1)
    profile = with_hidden(data=data, training=training)

    (problem,) = problems(profile, preview=preview)

    assert problem.is_error
    assert "with the state of adam and the images 27.0 GiB" in problem.message
    on_disk = profile.model_copy(update={"data": data.model_copy(update={"cache": "none"})})
    assert problems(on_disk, preview=preview) == []
