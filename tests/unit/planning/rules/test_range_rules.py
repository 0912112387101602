"""What is said of the range and the order of the numbers of examples."""

import pytest

from gpupanel.domain.data import DataSettings, ImagesData, NpzData, PythonData
from gpupanel.domain.model import ApplicationModel, CnnModel, MlpModel, ModelSettings, SavedModel
from gpupanel.domain.preview import DataPreview
from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.profile import Profile
from gpupanel.domain.task import Task
from gpupanel.planning.context import Known, PlanningContext, planning_context
from gpupanel.planning.fixes import apply_fix
from gpupanel.planning.rules import range_rules
from tests.fakes.devices import CPU_ONLY

NPZ, IMAGES = NpzData(path="/x.npz"), ImagesData(path="/images")
APPLICATION = ApplicationModel(source="MobileNetV2", weights="none")
SAVED = SavedModel(path="/model.keras")


def context(profile: Profile, **preview: object) -> PlanningContext:
    seen = DataPreview.model_validate({"feature_shape": (32, 32, 3), **preview})
    return planning_context(profile, CPU_ONLY, Known(preview=seen))


def of(model: ModelSettings, data: DataSettings = NPZ) -> Profile:
    return Profile(model=model, data=data)


@pytest.mark.parametrize(
    ("shape", "model", "is_said"),
    [
        ((3, 32, 32), CnnModel(), True),
        ((1, 28, 28), CnnModel(), True),
        ((3, 32, 32), APPLICATION, True),
        ((3, 224, 200), SAVED, True),
        ((3, 32, 32), MlpModel(), False),
        ((32, 32, 3), CnnModel(), False),
        ((3, 4, 3), CnnModel(), False),
        ((28, 28), CnnModel(), False),
    ],
)
def test_that_channels_that_seem_to_come_first_are_pointed_out(
    shape: tuple[int, ...], model: ModelSettings, is_said: bool
) -> None:
    found = list(range_rules.channels_first(context(of(model), feature_shape=shape)))
    assert [each.code for each in found] == ["channels_first"] * is_said
    for problem in found:
        assert problem.fix is not None
        fixes = (problem.fix, *problem.alternatives)
        mended = [apply_fix(of(model), fix) for fix in fixes]
        assert [each.data for each in mended] == [
            NPZ.model_copy(update={"axes": axes}) for axes in ("channels_first", "channels_last")
        ]
        for each in mended:
            assert not list(range_rules.channels_first(context(each, feature_shape=shape)))
    of_code = of(model, PythonData(path="/load.py"))
    for problem in range_rules.channels_first(context(of_code, feature_shape=shape)):
        assert problem.fix is None
        assert "numpy.moveaxis(x, 1, -1)" in problem.hint


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ((0.0, 1.0), "application_inputs_scaled"),
        ((-2.1, 2.6), "application_inputs_range"),
        ((0.0, 4095.0), "application_inputs_range"),
        ((0.0, 255.0), ""),
        (None, ""),
    ],
)
def test_that_numbers_that_are_no_pixels_are_pointed_out_before_an_architecture(
    values: tuple[float, float] | None, code: str
) -> None:
    found = list(range_rules.application_inputs(context(of(APPLICATION), value_range=values)))
    assert [each.code for each in found] == ([code] if code else [])


def test_that_an_architecture_is_given_pixels_by_images_and_nothing_is_said() -> None:
    for profile in (of(APPLICATION, IMAGES), of(CnnModel())):
        assert not list(range_rules.application_inputs(context(profile, value_range=(0, 1))))


@pytest.mark.parametrize(
    ("scales", "values", "shape", "is_said"),
    [
        (False, (0, 255), (32, 32, 3), True),
        (True, (0, 255), (32, 32, 3), False),
        (None, (0, 255), (32, 32, 3), False),
        (False, (0, 1), (32, 32, 3), False),
        (False, (-3, 90), (32, 32, 3), False),
        (False, (0, 255), (13,), False),
        (False, None, (32, 32, 3), False),
    ],
)
def test_that_a_saved_model_that_does_not_scale_is_pointed_out_before_raw_pixels(
    *, scales: bool | None, values: object, shape: tuple[int, ...], is_said: bool
) -> None:
    seen = context(of(SAVED), value_range=values, feature_shape=shape, model_scales=scales)
    found = list(range_rules.saved_model_inputs(seen))
    assert [each.code for each in found] == ["saved_model_inputs_range"] * is_said
    for problem in found:
        assert problem.severity is Severity.WARNING
        assert chosen_by(problem) == ["divided_by_255", "minus_1_to_1", "as_given"]


@pytest.mark.parametrize(
    ("values", "shape", "divides", "is_said"),
    [
        ((0, 1), (32, 32, 3), True, True),
        ((0, 0.9), (28, 28), True, True),
        ((0, 255), (32, 32, 3), True, False),
        ((-1, 1), (32, 32, 3), True, False),
        ((0, 1), (13,), True, False),
        ((0, 1), (32, 32, 3), False, False),
        (None, (32, 32, 3), True, False),
    ],
)
def test_that_values_that_a_saved_model_would_divide_again_are_pointed_out(
    *, values: object, shape: tuple[int, ...], divides: bool, is_said: bool
) -> None:
    seen = context(of(SAVED), value_range=values, feature_shape=shape, model_divides_pixels=divides)
    found = list(range_rules.saved_model_divides(seen))
    assert [each.code for each in found] == ["saved_model_inputs_scaled"] * is_said
    for problem in found:
        assert chosen_by(problem) == ["times_255", "as_given"]


@pytest.mark.parametrize(
    ("task", "field", "is_said"),
    [
        ("predict", "data.labels", True),
        ("predict", "data.features", False),
        ("evaluate", "data.labels", False),
    ],
)
def test_that_the_range_of_data_without_labels_matters_where_it_is_predicted_on(
    task: Task, field: str, *, is_said: bool
) -> None:
    wrong = Problem(code="data_array_missing", field=field, message="There are none.", hint="")
    profile = of(SAVED).model_copy(update={"task": task})
    seen = context(profile, value_range=(0, 255), model_scales=False, problems=(wrong,))
    found = list(range_rules.saved_model_inputs(seen))
    assert [each.code for each in found] == ["saved_model_inputs_range"] * is_said


@pytest.mark.parametrize(
    ("values", "made_for", "chosen"),
    [
        ((0, 255), (-5.0, 6.0), "divided_by_255"),
        ((-300, 1), (-5.0, 6.0), "divided_by_255"),
        ((0, 1), (-1000.0, 1300.0), "times_255"),
        ((0, 1), (-5.0, 6.0), None),
        ((0, 200), (-1000.0, 1300.0), None),
        (None, (-5.0, 6.0), None),
        ((0, 255), None, None),
    ],
)
def test_that_values_far_from_those_that_a_saved_model_learned_from_are_pointed_out(
    values: object, made_for: object, chosen: str | None
) -> None:
    seen = {"value_range": values, "model_expects": made_for}
    found = list(range_rules.saved_model_expects(context(of(SAVED), **seen)))
    assert [each.code for each in found] == ["saved_model_inputs_far"] * (chosen is not None)
    for problem in found:
        assert problem.fix is not None
        mended = [apply_fix(of(SAVED), fix) for fix in (problem.fix, *problem.alternatives)]
        assert [each.model.chosen_inputs for each in mended] == [chosen, "as_given"]
        for each in mended:
            assert not list(range_rules.saved_model_expects(context(each, **seen)))


def chosen_by(problem: Problem) -> list[object]:
    """What each of its fixes says of the inputs; nothing is said of them afterwards."""
    fixes = [fix for fix in (problem.fix, *problem.alternatives) if fix is not None]
    mended = [apply_fix(of(SAVED), fix).model for fix in fixes]
    for model in mended:
        seen = {"value_range": (0, 255), "model_scales": False}
        assert not list(range_rules.saved_model_inputs(context(of(model), **seen)))
        seen = {"value_range": (0, 1), "model_divides_pixels": True}
        assert not list(range_rules.saved_model_divides(context(of(model), **seen)))
    return [model.chosen_inputs for model in mended]


def test_that_nothing_is_said_of_data_that_was_not_read() -> None:
    empty = planning_context(of(SAVED), CPU_ONLY)
    rules = (
        range_rules.channels_first,
        range_rules.application_inputs,
        range_rules.saved_model_inputs,
        range_rules.saved_model_divides,
        range_rules.saved_model_expects,
    )
    assert not [problem for rule in rules for problem in rule(empty)]
