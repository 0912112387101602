"""Profiles as TOML text: round trips, and every mistake reported at once."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from gpupanel.domain.data import (
    DataCache,
    DataSettings,
    DigitsData,
    Holdout,
    ImagesData,
    KerasData,
    NpzData,
    Target,
)
from gpupanel.domain.memory import AllMemory, GrowingMemory, LimitedMemory, SplitMemory
from gpupanel.domain.model import CnnModel, MlpModel
from gpupanel.domain.optimizer import Optimizer
from gpupanel.domain.problem import Problem, ProblemError, Severity
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.profile_mistakes import MOST_MISTAKES, mistakes
from gpupanel.domain.profile_toml import dump_profile, parse_profile
from gpupanel.domain.setting import setting
from gpupanel.domain.strategy import AllReduce, StrategyKind, StrategySettings
from gpupanel.domain.training import TrainingSettings
from gpupanel.domain.value import Value

names = st.text(min_size=1, max_size=30)
paths = st.text(max_size=30)
counts = st.integers(1, 10_000)
places = st.integers(1, 1_024)
fractions = st.floats(0.0, 0.99)
memory = st.one_of(
    st.just(AllMemory()),
    st.just(GrowingMemory()),
    st.builds(LimitedMemory, limit_mib=counts, growth=st.booleans()),
    st.builds(SplitMemory, split_mib=st.lists(counts, min_size=2, max_size=4).map(tuple)),
)
strategies = st.builds(
    StrategySettings,
    kind=st.sampled_from(StrategyKind),
    shares=st.one_of(
        st.sampled_from(["equal", "balanced"]),
        st.lists(st.integers(0, 512), min_size=1, max_size=5).map(tuple),
    ),
    all_reduce=st.sampled_from(AllReduce),
    workers=st.none() | places,
    placement=st.one_of(
        st.none(), st.just("auto"), st.dictionaries(names, st.integers(0, 7), max_size=3)
    ),
)
common = {
    "validation_fraction": st.none() | fractions,
    "holdout": st.sampled_from(Holdout),
    "stratify": st.booleans(),
    "shuffle": st.booleans(),
    "cache": st.sampled_from(DataCache),
}
data = st.one_of(
    st.builds(DigitsData, **common),
    st.builds(KerasData, source=st.sampled_from(["mnist", "imdb"]), **common),
    st.builds(NpzData, path=paths, features=names, class_count=st.none() | counts, **common),
    st.builds(
        ImagesData,
        path=paths,
        validation_path=paths,
        test_path=paths,
        image_size=st.tuples(counts, counts),
        **common,
    ),
)
sizes = st.lists(counts, min_size=1, max_size=4).map(tuple)
models = st.one_of(
    st.builds(MlpModel, hidden=sizes, dropout=fractions, batch_norm=st.booleans()),
    st.builds(CnnModel, filters=sizes, hidden=sizes, dropout=fractions),
)
trainings = st.builds(
    TrainingSettings,
    epochs=counts,
    global_batch_size=counts,
    optimizer=st.sampled_from(Optimizer),
    learning_rate=st.floats(1e-9, 1e3),
    seed=st.integers(0, 2**31 - 1),
    validate_every=counts,
    early_stopping_patience=st.none() | counts,
)
profiles = st.builds(
    Profile,
    name=names,
    devices=st.builds(
        DeviceSettings, visible=st.lists(names, max_size=3).map(tuple), cpu_replicas=places
    ),
    memory=st.dictionaries(names, memory, max_size=3),
    strategy=strategies,
    data=data,
    model=models,
    training=trainings,
)

FIVE_MISTAKES = """
schema_version = 1
name = "five mistakes"
zzz = 2
[devices]
cpu_replica = 2
[strategy]
kind = "mirored"
[data]
source = "npz"
[training]
epochs = 0
"""


def problems_of(text: str) -> dict[str, Problem]:
    """The problems of a text that is no profile, by field."""
    with pytest.raises(ProblemError) as caught:
        parse_profile(text)
    assert all(problem.is_error for problem in caught.value.problems)
    return {problem.field: problem for problem in caught.value.problems}


@settings(max_examples=200)
@given(profiles)
def test_that_every_profile_survives_the_way_to_toml_and_back(profile: Profile) -> None:
    assert parse_profile(dump_profile(profile)) == profile


@settings(max_examples=200)
@given(st.text())
def test_that_any_text_is_a_profile_or_its_problems_are_reported(text: str) -> None:
    answer: Profile | tuple[Problem, ...]
    try:
        answer = parse_profile(text)
    except ProblemError as error:
        answer = error.problems
    assert answer


def test_that_all_five_mistakes_are_reported_at_once_each_with_its_key() -> None:
    problems = problems_of(FIVE_MISTAKES)
    assert set(problems) == {
        "zzz",
        "devices.cpu_replica",
        "strategy.kind",
        "data.path",
        "training.epochs",
    }
    assert problems["devices.cpu_replica"].code == "profile_key_unknown"
    assert problems["devices.cpu_replica"].hint == "Did you mean cpu_replicas?"
    assert problems["strategy.kind"].hint == "Did you mean mirrored?"
    assert problems["data.path"].code == "profile_key_missing"
    assert problems["training.epochs"].message == (
        "training.epochs is 0, but Epochs must be a whole number from 1 to 2147483647."
    )
    assert problems["training.epochs"].hint == "Change it, or leave it out: it is then 3."
    assert problems["zzz"].hint == "Remove it."


def test_that_text_that_is_no_toml_is_reported_with_its_line() -> None:
    problem = problems_of("name = [,")[""]
    assert problem.code == "profile_not_toml"
    assert "line 1" in problem.message


def test_that_a_newer_format_version_is_reported_as_such() -> None:
    # What that format has beside is not held against it.
    (problem,) = problems_of("schema_version = 9\nqubits = 7\n[data]\nkind = 1").values()
    assert problem.code == "profile_version_unknown"
    assert "9" in problem.message


@pytest.mark.parametrize("written", ["0", "-1", "1.5", '"1"', "false", "[1]", "1979-05-27"])
def test_that_a_format_that_never_was_is_no_newer_one(written: str) -> None:
    with pytest.raises(ProblemError) as caught:
        parse_profile(f"schema_version = {written}\nodd = 1\n")
    (problem,) = caught.value.problems
    assert problem.code == "profile_version_unknown"
    assert f"version {written};" in problem.message
    assert "Update" not in problem.hint


def test_that_shares_that_are_no_numbers_are_reported_once() -> None:
    problems = problems_of('[strategy]\nshares = "even"')
    assert set(problems) == {"strategy.shares"}
    assert "[48, 16]" in problems["strategy.shares"].hint


def test_that_a_negative_share_is_reported_at_its_place() -> None:
    assert set(problems_of("[strategy]\nshares = [48, -1]")) == {"strategy.shares.1"}


def test_that_an_unknown_memory_policy_lists_those_there_are() -> None:
    problem = problems_of('[memory.default]\npolicy = "quota"')["memory.default.policy"]
    assert "'growth'" in problem.message
    assert problem.hint == "Use one of them."


def test_that_a_table_without_its_deciding_key_is_reported() -> None:
    problem = problems_of("[data]\nshuffle = true")["data.source"]
    assert problem.code == "profile_key_missing"


def test_that_a_long_wrong_value_is_shortened() -> None:
    problem = problems_of(f'[training]\nlearning_rate = "{"x" * 500}"')["training.learning_rate"]
    assert len(problem.message) < 200


def test_that_a_device_takes_its_own_policy_before_the_default_one_and_growth_last() -> None:
    own, default = LimitedMemory(limit_mib=1024), AllMemory()
    profile = Profile(memory={"GPU-a": own, "default": default})
    assert profile.memory_policy("GPU-a") == own
    assert profile.memory_policy("GPU-b") == default
    assert Profile().memory_policy("GPU-a") == GrowingMemory()


@pytest.mark.parametrize(
    ("settings_", "target"),
    [
        (DigitsData(), Target.CLASSES),
        (KerasData(source="mnist"), Target.CLASSES),
        (KerasData(source="boston_housing"), Target.VALUES),
    ],
)
def test_that_housing_prices_are_values_and_all_else_is_classes(
    settings_: DataSettings, target: Target
) -> None:
    assert settings_.target_kind is target


def test_that_only_errors_are_errors() -> None:
    assert not Problem(code="x", message="x", severity=Severity.WARNING).is_error


@pytest.mark.parametrize(
    ("text", "field", "message", "hint"),
    [
        (
            "[training]\nclip_norm = 0",
            "training.clip_norm",
            "but Clip gradients must be a number from 1e-30 to 1e+30.",
            "Change it, or leave it out: off.",
        ),
        (
            "[data]\nsource = 'npz'",
            "data.path",
            "data.path is missing.",
            "Add it; it must be the path of a .npz or .npy file, in quotes.",
        ),
        (
            "[data]\nsource = 'npz'\npath = 3",
            "data.path",
            "data.path is 3, but File must be the path of a .npz or .npy file, in quotes.",
            "Give it an allowed value.",
        ),
        (
            "[memory.growth]\npolicy = 'limit'\nlimit_mib = -3",
            "memory.growth.limit_mib",
            "but Limit must be a whole number from 1 to 2147483647.",
            "Give it an allowed value.",
        ),
        (
            "[model]\nsource = 'cnn'\nfilters = [3, -1]",
            "model.filters.1",
            "but Filters must be a list of 1 to 14 whole numbers, each from 1 to 2147483647.",
            "Change it, or leave it out: it is then [32].",
        ),
        (
            "[data]\nsource = 'images'\npath = ''\nimage_size = [0, 3]",
            "data.image_size.0",
            "must be [height, width], two whole numbers, each from 1 to 16384.",
            "Change it, or leave it out: it is then [64, 64].",
        ),
        ("training = 3", "training", "training is 3, but must be a table.", ""),
        ("[memory]\ndefault = 3", "memory.default", "but must be a table.", ""),
        (
            "[devices]\nvisible = [3]",
            "devices.visible.0",
            "devices.visible.0 is 3, but must be text in quotes.",
            "",
        ),
        (
            "[devices]\nvisible = 'cpu'",
            "devices.visible",
            "but must be a list, in [brackets].",
            "",
        ),
        (
            "[strategy]\nplacement = {a = -1}",
            "strategy.placement.a",
            "it should be greater than or equal to 0.",
            "",
        ),
    ],
)
def test_that_the_sentence_of_a_bad_value_says_what_is_allowed(
    text: str, field: str, message: str, hint: str
) -> None:
    problem = problems_of(text)[field]
    assert problem.message.endswith(message)
    assert hint in problem.hint


def test_that_a_setting_that_may_be_left_out_without_a_word_for_it_is_to_be_changed() -> None:
    class Table(Value):
        """A table as one that is to come."""

        limit: int | None = setting("Limit", "How much.", default=None)

    class Document(Value):
        table: Table | None = None

    with pytest.raises(ValidationError) as caught:
        Document.model_validate({"table": {"limit": "a"}})
    (problem,) = mistakes(caught.value.errors(), Document)
    assert problem.message == 'table.limit is "a", but Limit must be a whole number.'
    assert problem.hint == "Change it."


def test_that_a_key_that_is_called_as_a_kind_is_named_as_it_stands() -> None:
    problems = problems_of("[data]\nsource = 'npz'\nnpz = 1")
    assert problems["data.npz"].code == "profile_key_unknown"
    assert problems["data.path"].code == "profile_key_missing"


def test_that_a_list_that_is_too_short_is_to_be_given_as_a_whole() -> None:
    (problem,) = problems_of("[data]\nsource = 'images'\npath = ''\nimage_size = [64]").values()
    assert problem.field == "data.image_size"
    assert problem.message == (
        "data.image_size is [64], but Image size must be [height, width], two whole numbers, each "
        "from 1 to 16384."
    )


def test_that_of_very_many_mistakes_the_first_are_reported_and_the_others_counted() -> None:
    entries = ", ".join(["0"] * 30_000)
    begin = time.monotonic()
    problems = problems_of(f'[data]\nsource = "images"\npath = "x"\nfiles = [{entries}]')
    assert time.monotonic() - begin < 20.0  # a second or two; it was hours
    assert len(problems) == MOST_MISTAKES + 1
    assert problems[""].message == "There are 29,900 more mistakes in the profile."


def test_that_a_kind_of_another_type_is_shown_as_toml_has_it() -> None:
    problem = problems_of('[model]\nsource = ["a"]')["model.source"]
    assert problem.message.startswith('model.source is ["a"], which is not one of ')
    assert problems_of("task = { a = 1 }")["task"].message.startswith("task is { a = 1 }, which ")
