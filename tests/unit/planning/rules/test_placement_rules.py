"""Layers on several devices: names and numbers are checked, XLA is refused."""

import pytest

from gpupanel.domain.data import DataSettings, DigitsData, ImagesData, KerasData, NpzData
from gpupanel.domain.model import CnnModel, MlpModel, ModelSettings, SavedModel
from gpupanel.domain.plan import LogicalPlace
from gpupanel.domain.problem import Problem
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.training import TrainingSettings
from gpupanel.planning.context import planning_context
from gpupanel.planning.fixes import apply_fix
from gpupanel.planning.prepare import prepare
from gpupanel.planning.rules import placement_rules
from gpupanel.planning.rules.placement_rules import placeable_layers
from gpupanel.planning.rules.registry import RULES
from tests.fakes.devices import CPU_ONLY

PLACES = tuple(
    LogicalPlace(device_key="cpu", logical_device=f"/device:CPU:{index}") for index in range(2)
)


def profile(placement: object = None, **training: object) -> Profile:
    return Profile(
        strategy=StrategySettings(kind=StrategyKind.MODEL_PARALLEL, placement=placement),
        training=TrainingSettings(**training),
    )


def placement_problems(one: Profile, places: tuple[LogicalPlace, ...] = PLACES) -> list[Problem]:
    """Those on as many logical devices of the CPU."""
    devices = DeviceSettings(cpu_replicas=len(places))
    context = planning_context(one.model_copy(update={"devices": devices}), CPU_ONLY)
    assert context.layout is not None
    if one.strategy.kind is StrategyKind.MODEL_PARALLEL:
        assert context.layout.places == places
    rules = [rule for rule in RULES if rule.__module__ == placement_rules.__name__]
    return [problem for rule in rules for problem in rule(context)]


def codes(one: Profile, places: tuple[LogicalPlace, ...] = PLACES) -> list[str]:
    return [problem.code for problem in placement_problems(one, places)]


def only(one: Profile) -> Problem:
    (problem,) = placement_problems(one)
    return problem


@pytest.mark.parametrize("placement", [None, "auto", {}, {"dense_1": 1, "outputs": 0}])
def test_that_layers_of_the_model_can_be_placed_on_the_devices(placement: object) -> None:
    assert codes(profile(placement)) == []


def test_that_a_layer_that_the_model_has_not_is_reported_with_those_that_it_has() -> None:
    problem = only(profile({"dense_2": 0, "outputs": 1}))

    assert problem.code == "placement_layer_missing"
    assert 'no layer "dense_2"' in problem.message
    assert '"pixels", "flatten", "dense_1", "dense_1_relu", "outputs"' in problem.message


def test_that_a_number_beyond_the_devices_is_reported() -> None:
    problem = only(profile({"dense_1": 2, "outputs": 1}))

    assert problem.code == "placement_beyond_devices"
    assert problem.message.endswith('beyond the last are placed: "dense_1".')
    assert (
        "one logical device" in placement_problems(profile({"dense_1": 1}), PLACES[:1])[0].message
    )


def pipeline(steps: int, batch: int = 64) -> Profile:
    one = profile(accumulation_steps=steps, global_batch_size=batch)
    strategy = one.strategy.model_copy(update={"pipeline": True})
    return one.model_copy(update={"strategy": strategy})


def test_that_a_pipeline_with_fewer_micro_batches_than_devices_is_reported() -> None:
    problem = only(pipeline(1))

    assert problem.code == "pipeline_without_micro_batches"
    assert "the batch is taken whole" in problem.message
    three = tuple(
        PLACES[0].model_copy(update={"logical_device": f"/device:CPU:{n}"}) for n in "012"
    )
    assert "is taken in 2:" in placement_problems(pipeline(2), three)[0].message
    assert problem.fix is not None
    assert apply_fix(pipeline(1), problem.fix).training.accumulation_steps == 8
    assert codes(pipeline(2)) == []
    assert codes(pipeline(1, batch=1)) == []
    assert codes(pipeline(1), PLACES[:1]) == []


def test_that_placed_layers_are_not_compiled() -> None:
    problem = only(profile(jit_compile=True))

    assert problem.code == "jit_compile_with_placed_layers"
    assert codes(profile(jit_compile=True), PLACES[:1]) == []


@pytest.mark.parametrize(
    "one", [profile({"dense_9": 0}), profile({"dense_1": 9}), profile(jit_compile=True)]
)
def test_that_each_problem_has_a_fix_that_mends_it(one: Profile) -> None:
    fix = only(one).fix

    assert fix is not None
    assert codes(apply_fix(one, fix)) == []


def test_that_other_strategies_place_no_layers() -> None:
    mirrored = StrategySettings(kind=StrategyKind.MIRRORED, placement={"nowhere": 7})
    assert codes(profile().model_copy(update={"strategy": mirrored})) == []


def test_that_the_layers_of_a_saved_model_are_not_known_before_it_is_loaded() -> None:
    saved = profile({"anything": 1}).model_copy(update={"model": SavedModel(path="/m.keras")})

    assert codes(saved) == []


def test_that_a_profile_with_such_a_problem_cannot_start() -> None:
    problems = prepare(profile({"dense_2": 0}), CPU_ONLY).problems

    assert "placement_layer_missing" in [problem.code for problem in problems if problem.is_error]


MLP_LAYERS = "dense_1 dense_1_norm dense_1_relu dense_1_dropout"
DENSE = "dense_1 dense_1_relu"
CNN_LAYERS = "convolution_1 convolution_1_relu convolution_1_pool"


@pytest.mark.parametrize(
    ("model", "names"),
    [
        (MlpModel(hidden=()), "flatten outputs"),
        (
            MlpModel(hidden=(8,), dropout=0.1, batch_norm=True),
            f"flatten {MLP_LAYERS} outputs",
        ),
        (
            CnnModel(filters=(4,), dropout=0.1),
            f"channel {CNN_LAYERS} flatten dropout outputs",
        ),
        (
            CnnModel(filters=(4, 4), hidden=(8,)),
            f"channel {CNN_LAYERS} {CNN_LAYERS.replace('_1', '_2')} flatten {DENSE} outputs",
        ),
    ],
)
def test_that_layers_are_named_as_they_are_built(model: ModelSettings, names: str) -> None:
    assert placeable_layers(model, DigitsData()) == ("pixels", *names.split())


def test_that_of_a_model_in_a_file_no_layers_are_known() -> None:
    assert placeable_layers(SavedModel(), DigitsData()) == ()


@pytest.mark.parametrize(
    ("data", "first"),
    [
        (KerasData(source="mnist"), "pixels channel"),
        (KerasData(source="cifar10"), "pixels"),
        (KerasData(source="imdb"), "channel"),
        (KerasData(source="boston_housing"), "standardise channel"),
        (ImagesData(path="/i"), "pixels"),
        (NpzData(path="/a.npz"), "pixels channel"),
    ],
)
def test_that_the_first_layers_are_those_of_the_data(data: DataSettings, first: str) -> None:
    layers = placeable_layers(CnnModel(filters=(4,)), data)

    assert " ".join(layers[: layers.index("convolution_1")]) == first


def test_that_a_first_layer_that_the_data_does_not_ask_for_is_refused() -> None:
    problem = only(profile({"standardise": 1, "outputs": 0}))

    assert problem.code == "placement_layer_missing"
