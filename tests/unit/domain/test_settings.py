"""Settings that declare their words once: read back from the value that has them."""

import typing

import pytest
from pydantic import Field

from gpupanel.domain.allowed_values import allowed_values
from gpupanel.domain.choice import Choice, ChoiceEnum
from gpupanel.domain.profile import Profile
from gpupanel.domain.setting import (
    Bounds,
    PathKind,
    Setting,
    SettingType,
    setting,
    setting_of,
    settings_of,
)
from gpupanel.domain.value import Count, Fraction, PositiveInt, Value


class Pace(ChoiceEnum):
    """Two values with their words, one without."""

    SLOW = "slow", "Slow", "Takes its time."
    FAST = "fast", "Fast", "Is done soon."
    PLAIN = "plain"


class Shared(Value):
    """What several tables have."""

    shared: bool = setting("Shared", "Stands in each of them.", default=True)


class Everything(Shared):
    """A setting of each type."""

    source: typing.Literal["everything"] = "everything"
    pace: Pace = setting("Pace", "How fast.", default=Pace.SLOW)
    colour: typing.Literal["red", "blue"] = setting(
        "Colour",
        "Which one.",
        default="red",
        choices=(Choice("red", "Red", "Warm."), Choice("blue", "Blue", "Cold.")),
    )
    plain: typing.Literal["a", "b"] = setting("Plain", "Without words.", default="a")
    count: PositiveInt = setting("Count", "How many.", unit="example", prefix="up to ")
    optional: Count | None = setting("Optional", "Or none.", default=None, off="never")
    few: typing.Annotated[int, Field(gt=0, lt=10)] = setting("Few", "Below ten.", default=1)
    any_count: int = setting("Any", "Without bounds.", default=0)
    fraction: Fraction = setting(
        "Fraction", "A part.", default=0.5, advanced=True, applies={"pace": ("slow",)}
    )
    above: float = setting("Above", "A real number.", default=1.0, gt=0.0, le=1e6)
    between: float = setting("Between", "Both ends are allowed.", default=1.0, ge=0.5, le=2)
    below: float = setting("Below", "No lower bound.", default=1.0, lt=9.0)
    number: float = setting("Number", "Without bounds.", default=1.0)
    units: tuple[PositiveInt, ...] = setting(
        "Units", "Of each layer.", default=(), max_length=4, examples=[[8, 4]]
    )
    filters: tuple[PositiveInt, ...] = setting(
        "Filters", "At least one.", default=(1,), min_length=1, max_length=3
    )
    steps: tuple[int, ...] = setting("Steps", "Any number of them.", default=(), min_length=2)
    lots: tuple[int, ...] = setting("Lots", "Any number of them.", default=())
    size: tuple[PositiveInt, PositiveInt] = setting("Size", "In pixels.", default=(1, 1))
    text: str = setting("Text", "Some words.", default="")
    name: str = setting("Name", "Short.", default="a", min_length=1, max_length=5)
    file: str = setting(
        "File", "The data.", default="", path=PathKind((".npz",), "Files", "Choose")
    )
    folder: str = setting("Folder", "Pictures.", default="", path=PathKind((), "", "Choose"))
    names: tuple[str, ...] = setting("Names", "Any number of them.", default=())
    one_or_more: str | tuple[str, ...] | None = setting("One or more", "Or none.", default=None)
    word_or_names: (
        typing.Literal["no", "all"] | typing.Annotated[tuple[str, ...], Field(max_length=9)]
    ) = setting("Word or names", "Some.", default="no")
    word_or_counts: (
        typing.Literal["no", "all"]
        | typing.Annotated[
            tuple[typing.Annotated[int, Field(ge=0)], ...], Field(min_length=1, max_length=9)
        ]
    ) = setting("Word or counts", "Some.", default="no")
    named: dict[str, Pace] = setting("Named", "The pace of each.", default={})
    lists: dict[str, tuple[str, ...]] = setting("Lists", "Words of each.", default={})
    counted: dict[str, int] = setting("Counted", "How many of each.", default={})
    mixed: int | str | None = setting("Mixed", "Needs an editor of its own.", default=None)


def of(name: str) -> Setting:
    """One of them."""
    return setting_of(Everything, name)


def test_that_the_settings_are_the_fields_with_a_title_its_own_before_those_it_shares() -> None:
    names = [each.name for each in settings_of(Everything)]
    assert "source" not in names
    assert names[:2] == ["pace", "colour"]
    assert names[-1] == "shared"


def test_that_a_list_of_texts_may_be_one_of_them_where_its_type_says_so() -> None:
    assert (of("names").may_be_one, of("names").is_optional) == (False, False)
    assert (of("one_or_more").may_be_one, of("one_or_more").is_optional) == (True, True)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("shared", SettingType.SWITCH),
        ("named", SettingType.NAMED_CHOICES),
        ("lists", SettingType.NAMED_LISTS),
        ("counted", SettingType.OTHER),
        ("pace", SettingType.CHOICE),
        ("colour", SettingType.CHOICE),
        ("count", SettingType.COUNT),
        ("optional", SettingType.COUNT),
        ("fraction", SettingType.NUMBER),
        ("units", SettingType.COUNTS),
        ("size", SettingType.SIZE),
        ("text", SettingType.TEXT),
        ("file", SettingType.PATH),
        ("names", SettingType.NAMES),
        ("one_or_more", SettingType.NAMES),
        ("word_or_names", SettingType.CHOICE_OR_NAMES),
        ("word_or_counts", SettingType.CHOICE_OR_COUNTS),
        ("mixed", SettingType.OTHER),
    ],
)
def test_that_the_type_of_a_field_says_what_kind_of_value_it_has(
    name: str, kind: SettingType
) -> None:
    assert of(name).type is kind


def test_that_the_words_come_back_as_they_were_declared() -> None:
    count, optional = of("count"), of("optional")
    assert (count.title, count.description, count.unit) == ("Count", "How many.", "example")
    assert (count.prefix, count.is_required, count.default) == ("up to ", True, None)
    assert (optional.off, optional.is_required, optional.is_optional) == ("never", False, True)
    assert of("fraction").advanced
    assert of("units").examples == ([8, 4],)
    assert of("file").path == PathKind((".npz",), "Files", "Choose")


def test_that_a_field_has_the_bounds_that_its_type_and_its_declaration_say() -> None:
    assert of("fraction").bounds == Bounds(0.0, 1.0, below_most=True)
    assert of("above").bounds == Bounds(0.0, 1e6, above_least=True)
    assert of("units").bounds.least == 0
    assert (of("units").lengths, of("steps").lengths) == ((0, 4), (2, None))


def test_that_choices_come_with_their_words_and_without_any_are_what_they_are() -> None:
    assert of("colour").choices[0] == Choice("red", "Red", "Warm.")
    assert of("plain").choices == (Choice("a", "a"), Choice("b", "b"))
    assert of("pace").choices[0] == Choice("slow", "Slow", "Takes its time.")
    assert Pace.PLAIN.label == "plain"


def test_that_a_setting_says_beside_which_values_it_means_something() -> None:
    assert of("fraction").applies_in(Everything(count=1))
    assert not of("fraction").applies_in(Everything(count=1, pace=Pace.FAST))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("shared", "true or false"),
        ("pace", 'one of "slow", "fast", "plain"'),
        ("count", "a whole number from 1 to 2147483647"),
        ("few", "a whole number from 1 to 9"),
        ("any_count", "a whole number"),
        ("fraction", "a number of at least 0 and below 1"),
        ("above", "a number above 0 and at most 1e+06"),
        ("between", "a number from 0.5 to 2"),
        ("below", "a number below 9"),
        ("number", "a number"),
        ("units", "a list of up to 4 whole numbers, each from 1 to 2147483647"),
        ("filters", "a list of 1 to 3 whole numbers, each from 1 to 2147483647"),
        ("steps", "a list of at least 2 whole numbers"),
        ("lots", "a list of whole numbers"),
        ("size", "[height, width], two whole numbers, each from 1 to 2147483647"),
        ("text", "text in quotes"),
        ("name", "text in quotes, 1 to 5 characters"),
        ("file", "the path of a .npz file, in quotes"),
        ("folder", "a path, in quotes"),
        ("word_or_names", '"no", "all" or a list of names'),
        (
            "word_or_counts",
            '"no", "all" or a list of 1 to 9 whole numbers, each of at least 0',
        ),
        ("named", 'a table of names, each with one of "slow", "fast", "plain"'),
        ("lists", "a table of names, each with a list of texts"),
        ("counted", ""),
        ("mixed", ""),
    ],
)
def test_that_what_is_allowed_is_said_in_words(name: str, words: str) -> None:
    assert allowed_values(of(name)) == words


def every_table(annotation: object = Profile) -> set[type[Value]]:
    """The types of all tables of a profile."""
    if isinstance(annotation, type) and issubclass(annotation, Value):
        inner = (field.annotation for field in annotation.model_fields.values())
        return {annotation}.union(*map(every_table, inner))
    return set[type[Value]]().union(*map(every_table, typing.get_args(annotation)))


def test_that_each_setting_of_a_profile_declares_its_words() -> None:
    tables = every_table()
    for table in tables:
        assert all(each.description.endswith(".") for each in settings_of(table)), table
    titled = {each.name for table in tables for each in settings_of(table)}
    fields = {name for table in tables for name in table.model_fields}
    # What tells which kind a table is, and the tables themselves.
    kinds = {"source", "policy", "schema_version"}
    names = {"devices", "memory", "strategy", "data", "model", "training", "inference"}
    names |= {"cluster", "script", "sweep"}
    assert fields - titled <= kinds | names
