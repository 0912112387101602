"""What evaluating and predicting need, rule by rule."""

from typing import Any

import pytest

from gpupanel.domain.data import DataSettings, DigitsData, ImagesData, KerasData, NpzData
from gpupanel.domain.inference import InferenceSettings
from gpupanel.domain.model import CnnModel, MlpModel, SavedModel
from gpupanel.domain.plan import LaunchPlan
from gpupanel.domain.preview import DataPreview
from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.strategy import StrategyKind, StrategySettings
from gpupanel.domain.training import TrainingSettings
from gpupanel.planning.context import Known, planning_context
from gpupanel.planning.fixes import apply_fix
from gpupanel.planning.prepare import prepare
from gpupanel.planning.rules import inference_rules
from gpupanel.planning.rules.data_rules import matters_to_task
from gpupanel.planning.rules.registry import RULES
from tests.fakes.devices import CPU_ONLY

SAVED = SavedModel(path="/models/digits.keras")
TASKS = pytest.mark.parametrize("task", ["evaluate", "predict"])


def inferring(task: str = "evaluate", **parts: Any) -> Profile:
    return Profile(
        **{
            "task": task,
            "model": SAVED,
            "devices": DeviceSettings(visible=("cpu",), cpu_replicas=2),
            "strategy": StrategySettings(kind=StrategyKind.MIRRORED),
            **parts,
        }
    )


def inference_problems(profile: Profile) -> list[Problem]:
    context = planning_context(profile, CPU_ONLY)
    rules = [rule for rule in RULES if rule.__module__ == inference_rules.__name__]
    return [problem for rule in rules for problem in rule(context)]


def the_problem(profile: Profile) -> Problem:
    """The only one, which its fix, if it has one, makes go away."""
    (problem,) = inference_problems(profile)
    if problem.fix is not None:
        mended = apply_fix(profile, problem.fix)
        assert problem.code not in {each.code for each in inference_problems(mended)}
    return problem


@TASKS
def test_that_a_saved_model_is_put_on_every_device(task: str) -> None:
    profile = inferring(task, inference=InferenceSettings(batch_size=100))
    preparation = prepare(profile, CPU_ONLY)
    assert preparation.problems == ()
    assert isinstance(preparation.plan, LaunchPlan)
    assert preparation.plan.shares == (50, 50)
    assert (profile.epochs_to_train, Profile().epochs_to_train) == (0, 3)


def test_that_training_settings_mean_nothing_to_a_model_that_is_there() -> None:
    odd = TrainingSettings(
        mixed_precision=True, momentum=0.5, accumulation_steps=500, early_stopping_patience=1
    )
    assert prepare(inferring(training=odd), CPU_ONLY).problems == ()


def test_that_a_saved_model_is_trained_further() -> None:
    assert prepare(Profile(model=SAVED), CPU_ONLY).problems == ()
    assert inference_problems(Profile()) == []


@TASKS
@pytest.mark.parametrize("model", [MlpModel(), CnnModel()])
def test_that_only_a_saved_model_is_evaluated(task: str, model: MlpModel | CnnModel) -> None:
    problem = the_problem(inferring(task, model=model))
    assert (problem.code, problem.is_error) == ("inference_needs_saved_model", True)


@TASKS
def test_that_a_saved_model_needs_a_path(task: str) -> None:
    (problem,) = prepare(inferring(task, model=SavedModel()), CPU_ONLY).problems
    assert (problem.code, problem.field) == ("model_path_missing", "model.path")
    assert ".keras" in problem.hint


@TASKS
@pytest.mark.parametrize(
    "kind", [kind for kind in StrategyKind if kind not in ("one_device", "mirrored")]
)
def test_that_other_strategies_are_for_training(task: str, kind: StrategyKind) -> None:
    problem = the_problem(inferring(task, strategy=StrategySettings(kind=kind)))
    assert (problem.code, problem.is_error) == ("strategy_not_for_inference", True)


def test_that_shares_are_not_measured() -> None:
    strategy = StrategySettings(kind=StrategyKind.MIRRORED, shares="balanced")
    problem = the_problem(inferring(strategy=strategy))
    assert (problem.code, problem.severity) == ("balanced_is_for_training", Severity.HINT)


def test_that_shares_of_a_strategy_for_training_are_no_second_problem() -> None:
    strategy = StrategySettings(kind=StrategyKind.CENTRAL_STORAGE, shares="balanced")
    assert the_problem(inferring(strategy=strategy)).code == "strategy_not_for_inference"


def test_that_shares_sum_to_the_batch_of_a_call() -> None:
    strategy = StrategySettings(kind=StrategyKind.MIRRORED, shares=(3, 1))
    few = inferring(strategy=strategy, inference=InferenceSettings(batch_size=4))
    assert prepare(few, CPU_ONLY).is_startable
    assert not prepare(inferring(strategy=strategy), CPU_ONLY).is_startable


@pytest.mark.parametrize(
    ("data", "there_are_some"),
    [
        (DigitsData(validation_fraction=0.2), True),
        (DigitsData(), False),
        (DigitsData(validation_fraction=0.0), False),
        (ImagesData(path="/images"), False),
        (NpzData(path="x.npz"), True),
        (KerasData(source="mnist"), True),
        (KerasData(source="mnist", validation_fraction=0.0), False),
    ],
)
def test_that_validation_examples_must_be_held_back(
    data: DataSettings, *, there_are_some: bool
) -> None:
    assert inference_problems(inferring(data=data)) == []
    profile = inferring(data=data, inference=InferenceSettings(examples="validation"))
    if there_are_some:
        assert inference_problems(profile) == []
    else:
        assert the_problem(profile).code == "inference_no_validation_examples"


@pytest.mark.parametrize("task", ["train", "predict"])
def test_that_code_that_measures_an_evaluation_is_used_by_nothing_else(task: str) -> None:
    model = SAVED.model_copy(update={"measures": "/code/network.py"})
    problem = the_problem(inferring(task, model=model))

    assert (problem.code, problem.field) == ("measures_not_used", "model.measures")
    assert problem.severity is Severity.HINT
    assert inference_problems(inferring("evaluate", model=model)) == []


def test_that_a_preview_shows_whether_there_is_a_test_set_to_validate_on() -> None:
    data = NpzData(path="x.npz")
    profile = inferring(data=data, inference=InferenceSettings(examples="validation"))
    none, some = (DataPreview(example_count=9, test_example_count=count) for count in (0, 3))
    found = prepare(profile, CPU_ONLY, Known(preview=none)).problems
    assert [problem.code for problem in found] == ["inference_no_validation_examples"]
    assert prepare(profile, CPU_ONLY, Known(preview=some)).problems == ()


def looked(code: str, field: str = "data.labels") -> Problem:
    return Problem(code=code, field=field, message="seen in the data")


def test_that_predicting_needs_no_labels() -> None:
    no_labels = looked("data_array_missing")
    preview = DataPreview(problems=(no_labels,))
    data = NpzData(path="x.npz")
    assert prepare(inferring("predict", data=data), CPU_ONLY, Known(preview=preview)).is_startable
    assert not prepare(
        inferring("evaluate", data=data), CPU_ONLY, Known(preview=preview)
    ).is_startable
    unclear = DataPreview(problems=(looked("data_arrays_ambiguous"),))
    assert prepare(inferring("predict", data=data), CPU_ONLY, Known(preview=unclear)).is_startable
    odd = looked("data_features_not_finite", "data.features")
    preview = DataPreview(problems=(no_labels, odd))
    assert not prepare(
        inferring("predict", data=data), CPU_ONLY, Known(preview=preview)
    ).is_startable
    no_features = looked("data_array_missing", "data.features")
    assert matters_to_task(inferring("predict", data=data), no_features)


def test_that_a_fraction_that_leaves_nothing_matters_where_it_is_used() -> None:
    too_small = looked("data_validation_fraction", "data.validation_fraction")
    assert not matters_to_task(inferring(), too_small)
    held_back = InferenceSettings(examples="training")
    assert matters_to_task(inferring(inference=held_back), too_small)


def test_that_few_examples_are_no_problem_to_a_large_batch() -> None:
    preview = DataPreview(example_count=10, feature_shape=(8, 8))
    assert prepare(inferring(), CPU_ONLY, Known(preview=preview)).problems == ()
