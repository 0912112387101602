"""Models and data from Python code: what is reported before a run, which does not read the file."""

from typing import Any

import pytest

from gpupanel.domain.data import DigitsData, PythonData, Target
from gpupanel.domain.inference import InferenceSettings
from gpupanel.domain.model import PythonModel, SavedModel
from gpupanel.domain.preview import DataPreview
from gpupanel.domain.process_environment import PLANNED_VARIABLES
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.random_layers import depends_on_split
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.training import TrainingSettings
from gpupanel.planning.context import Known
from gpupanel.planning.fixes import apply_fix
from gpupanel.planning.prepare import prepare
from gpupanel.planning.script.stand_alone import stand_alone_script
from tests.fakes.devices import CPU_ONLY

CODE = PythonModel(path="/network.py")
OWN_DATA = PythonData(path="/data.py")


def codes(profile: Profile) -> list[str]:
    return [problem.code for problem in prepare(profile, CPU_ONLY).problems]


@pytest.mark.parametrize("kind", [kind for kind in StrategyKind if kind != "model_parallel"])
def test_that_code_is_planned_like_anything_else(kind: StrategyKind) -> None:
    strategy = StrategySettings(kind=kind)
    profile = Profile(model=CODE, data=OWN_DATA, strategy=strategy)
    assert prepare(profile, CPU_ONLY).plan is not None
    assert not [problem for problem in prepare(profile, CPU_ONLY).problems if problem.is_error]


def test_that_a_file_must_be_chosen() -> None:
    assert "model_path_missing" in codes(Profile(model=PythonModel()))
    assert "data_path_missing" in codes(Profile(data=PythonData(path="")))


def test_that_layers_that_are_not_known_cannot_be_placed_and_that_the_fix_mends_it() -> None:
    placed = StrategySettings(kind=StrategyKind.MODEL_PARALLEL, placement={"dense_1": 0})
    profile = Profile(model=CODE, strategy=placed)
    found = {each.code: each for each in prepare(profile, CPU_ONLY).problems}
    problem = found["python_model_not_divided"]
    assert problem.is_error
    assert problem.fix is not None
    mended = apply_fix(profile, problem.fix)
    assert mended.strategy == StrategySettings(kind=StrategyKind.MIRRORED)
    assert "python_model_not_divided" not in codes(mended)


def test_that_code_is_for_training() -> None:
    inferring = Profile(task="evaluate", model=CODE)
    assert "inference_needs_saved_model" in codes(inferring)
    assert "python_model_not_divided" not in codes(inferring)


def test_that_a_test_set_that_code_may_bring_is_not_missed() -> None:
    patient = TrainingSettings(early_stopping_patience=2)
    whole = OWN_DATA.model_copy(update={"validation_fraction": 0.0})
    warned = "early_stopping_without_validation"
    assert warned not in codes(Profile(data=OWN_DATA, training=patient))
    assert warned in codes(Profile(data=whole, training=patient))
    inferring = Profile(
        task="evaluate",
        model=SavedModel(path="/m.keras"),
        data=OWN_DATA,
        inference=InferenceSettings(examples="validation"),
    )
    missed = "inference_no_validation_examples"
    assert missed not in codes(inferring)
    assert missed in codes(inferring.model_copy(update={"data": whole}))


@pytest.mark.parametrize("part", [{"model": CODE}, {"data": OWN_DATA}])
def test_that_a_script_carries_code_out_where_it_is_and_planning_does_not(
    part: dict[str, object],
) -> None:
    profile = Profile().model_copy(update=part)
    plan = prepare(profile, CPU_ONLY).plan
    assert plan is not None
    text = stand_alone_script(profile, plan)
    (path,) = (each.path for each in part.values())
    assert f"carried_out({path!r}" in text


def test_that_what_code_predicts_is_what_the_profile_says() -> None:
    assert OWN_DATA.target_kind is Target.CLASSES
    assert PythonData(path="/data.py", predicts=Target.VALUES).target_kind is Target.VALUES
    assert DigitsData().target_kind is Target.CLASSES


def test_that_plans_set_no_other_variables_than_processes_take() -> None:
    for kind in StrategyKind:
        plan = prepare(Profile(strategy=StrategySettings(kind=kind)), CPU_ONLY).plan
        assert plan is not None
        for process in plan.gang:
            assert set(plan.environment) | set(process.environment) <= PLANNED_VARIABLES


@pytest.mark.parametrize(
    ("name", "replicas", "steps", "task", "warned"),
    [
        ("mixed", 1, 1, "train", False),
        ("mixed", 2, 1, "train", True),
        ("mixed", 1, 2, "train", True),
        ("", 2, 2, "train", False),
        ("mixed", 2, 2, "evaluate", False),
    ],
)
def test_that_layers_that_mix_examples_are_warned_of_where_a_batch_is_divided(
    name: str, replicas: int, steps: int, task: Any, warned: bool
) -> None:
    kind = StrategyKind.MIRRORED if replicas > 1 else StrategyKind.ONE_DEVICE
    profile = Profile(
        task=task,
        devices=DeviceSettings(visible=("cpu",), cpu_replicas=replicas),
        strategy=StrategySettings(kind=kind),
        model=SavedModel(path="/models/mixing.keras"),
        training=TrainingSettings(accumulation_steps=steps),
    )
    preview = DataPreview(
        example_count=90, feature_shape=(8, 8), mixing_layers=(name,) if name else ()
    )
    found = prepare(profile, CPU_ONLY, Known(preview=preview)).problems
    problems = [each for each in found if each.code == "random_numbers_by_split"]
    assert [each.message.partition(":")[0] for each in problems] == ([name] if warned else [])


def test_that_many_layers_that_depend_on_the_split_are_named_in_part() -> None:
    problem = depends_on_split([f"layer_{number}" for number in range(7)])
    assert problem.message.startswith("layer_0, layer_1, layer_2, layer_3, layer_4 and 2 more: ")
    assert depends_on_split(()).message.startswith("Layers of the model: ")
