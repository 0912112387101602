"""What texts need of a model, and what it takes to learn from their words."""

from gpupanel.domain.data import TextData
from gpupanel.domain.layers import EMBEDDING_UNITS, word_layers
from gpupanel.domain.model import CnnModel, MlpModel, SavedModel
from gpupanel.domain.problem import Problem
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.planning.fixes import apply_fix
from gpupanel.planning.layers import model_layers
from gpupanel.planning.prepare import prepare
from gpupanel.planning.rules.model_size_rules import least_parameters
from gpupanel.planning.rules.placement_rules import placeable_layers
from tests.fakes.devices import CPU_ONLY

TEXTS = TextData(path="/texts", vocabulary=1000, length=50)


def profile(**parts: object) -> Profile:
    return Profile(devices=DeviceSettings(visible=("cpu",)), **{"data": TEXTS, **parts})


def problems(profile: Profile) -> list[Problem]:
    return list(prepare(profile, CPU_ONLY).problems)


def test_that_convolutions_over_texts_are_refused_with_a_way_to_go_on() -> None:
    (problem,) = problems(profile(model=CnnModel()))
    assert (problem.code, problem.field) == ("model_needs_pictures", "model.source")
    assert problem.fix is not None
    assert not problems(apply_fix(profile(model=CnnModel()), problem.fix))
    assert not problems(profile(model=MlpModel()))


def test_that_the_numbers_of_each_word_are_counted() -> None:
    layers = model_layers(MlpModel(hidden=(8,)), (50,), 3, TEXTS.token_count)
    assert [(layer.name, layer.parameters) for layer in layers] == [
        ("embedding", 1000 * EMBEDDING_UNITS),
        ("dense_1", (EMBEDDING_UNITS + 1) * 8),
        ("outputs", 9 * 3),
    ]
    assert word_layers(0) == ()
    many = profile(data=TEXTS.model_copy(update={"vocabulary": 1_000_000}))
    assert least_parameters(many) > 64_000_000
    assert least_parameters(profile(model=SavedModel())) == 0


def test_that_the_words_can_be_placed_on_a_device() -> None:
    names = placeable_layers(MlpModel(hidden=(8,)), TEXTS)
    assert names[:2] == ("embedding", "embedding_mean")
    assert names[-1] == "outputs"
    assert placeable_layers(SavedModel(), TEXTS) == ()
