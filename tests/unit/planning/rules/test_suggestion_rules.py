"""A model and a batch that fit the data are proposed, one click away."""

import pytest

from gpupanel.domain.data import DigitsData, ImagesData, NpzData, TableData, TextData
from gpupanel.domain.model import (
    CnnModel,
    MlpModel,
    ResNetModel,
    SavedModel,
    TabularModel,
    TransformerModel,
)
from gpupanel.domain.preview import DataPreview
from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.profile import Profile
from gpupanel.domain.training import TrainingSettings
from gpupanel.planning.context import Known
from gpupanel.planning.fixes import apply_fix
from gpupanel.planning.prepare import prepare
from gpupanel.planning.rules.suggestion_rules import batch_for
from tests.fakes.devices import CPU_ONLY


def problems(profile: Profile, preview: DataPreview | None) -> dict[str, Problem]:
    found = prepare(profile, CPU_ONLY, Known(preview=preview)).problems
    return {problem.code: problem for problem in found}


def seen(*shape: int, examples: int = 1000) -> DataPreview:
    return DataPreview(example_count=examples, trained_count=examples, feature_shape=shape)


@pytest.mark.parametrize("model", [MlpModel(), CnnModel()])
@pytest.mark.parametrize("data", [ImagesData(path="/i"), NpzData(path="/i.npz")])
def test_that_a_network_for_images_is_proposed_for_images_of_some_size(
    model: MlpModel | CnnModel, data: ImagesData | NpzData
) -> None:
    profile = Profile(data=data, model=model)
    problem = problems(profile, seen(64, 64, 3, examples=200))["model_suggested"]
    assert problem.severity is Severity.HINT
    assert problem.fix is not None
    better = apply_fix(profile, problem.fix)
    assert better.model == ResNetModel()
    assert better.training.global_batch_size == 16
    assert "model_suggested" not in problems(better, seen(64, 64, 3, examples=200))
    many = problems(profile, seen(64, 64, 3, examples=9_000))["model_suggested"]
    assert many.fix is not None
    assert apply_fix(profile, many.fix).training == TrainingSettings()


@pytest.mark.parametrize(
    ("profile", "preview"),
    [
        (Profile(data=ImagesData(path="/i")), None),
        (Profile(data=ImagesData(path="/i")), seen(32, 32, 3)),
        (Profile(data=DigitsData()), seen(8, 8)),
        (Profile(data=TableData(path="/t.csv")), seen(70)),
        (Profile(data=NpzData(path="/a.npz")), seen(70)),
        (Profile(data=NpzData(path="/a.npz")), seen(2, 2, 2, 2)),
    ],
)
def test_that_nothing_is_proposed_where_plain_layers_suit(
    profile: Profile, preview: DataPreview | None
) -> None:
    assert "model_suggested" not in problems(profile, preview)


@pytest.mark.parametrize(
    ("data", "wrong", "right"),
    [
        (TextData(path="/t.csv"), CnnModel(), TransformerModel()),
        (TableData(path="/t.csv"), CnnModel(), TabularModel()),
        (DigitsData(), TransformerModel(), ResNetModel()),
    ],
)
def test_that_a_model_for_other_data_is_changed_by_one_click(
    data: TextData | TableData | DigitsData,
    wrong: CnnModel | TransformerModel,
    right: TransformerModel | TabularModel | ResNetModel,
) -> None:
    profile = Profile(data=data, model=wrong)
    (problem,) = (
        each for code, each in problems(profile, None).items() if code.startswith("model_needs_")
    )
    assert problem.fix is not None
    assert apply_fix(profile, problem.fix).model == right
    (mlp,) = problem.alternatives
    assert apply_fix(profile, mlp).model == MlpModel()


def test_that_a_batch_above_the_examples_is_changed_by_one_click() -> None:
    profile = Profile(data=DigitsData(validation_fraction=0.0))
    problem = problems(profile, seen(8, 8, examples=40))["batch_above_examples"]
    assert problem.fix is not None
    assert apply_fix(profile, problem.fix).training.global_batch_size == 4


@pytest.mark.parametrize(
    ("examples", "batch"), [(0, 1), (7, 1), (16, 2), (100, 8), (512, 64), (10**9, 64)]
)
def test_that_an_epoch_has_several_updates(examples: int, batch: int) -> None:
    assert batch_for(examples) == batch


@pytest.mark.parametrize(
    ("sides", "model", "size"),
    [
        ((1080, 1920), ResNetModel(), (224, 224)),
        ((100, 130), ResNetModel(), (96, 96)),
        ((28, 28), CnnModel(), (28, 28)),
        ((20, 400), ResNetModel(), (20, 20)),
        ((3, 3), MlpModel(), (8, 8)),
        # A dense layer behind larger images has a weight for each of their pixels.
        ((1080, 1920), CnnModel(), None),
        ((64, 64), ResNetModel(), None),
        ((50, 50), ResNetModel(), None),
    ],
)
def test_that_a_size_of_images_is_proposed_that_is_theirs(
    sides: tuple[int, int], model: CnnModel | ResNetModel, size: tuple[int, int] | None
) -> None:
    profile = Profile(data=ImagesData(path="/i"), model=model)
    preview = seen(64, 64, 3).model_copy(update={"image_sides": sides})
    problem = problems(profile, preview).get("image_size_suggested")
    assert (problem is None) is (size is None)
    if problem is not None:
        assert problem.severity is Severity.HINT
        assert problem.fix is not None
        better = apply_fix(profile, problem.fix)
        assert isinstance(better.data, ImagesData)
        assert better.data.image_size == size
        # What a person chose stays.
        assert "image_size_suggested" not in problems(better, preview)


def test_that_no_size_is_proposed_where_nothing_is_scaled() -> None:
    assert "image_size_suggested" not in problems(Profile(), seen(8, 8))
    # A saved model takes images of its own size.
    preview = seen(64, 64, 3).model_copy(update={"image_sides": (1080, 1920)})
    saved = Profile(data=ImagesData(path="/i"), model=SavedModel(path="/m.keras"))
    assert "image_size_suggested" not in problems(saved, preview)
