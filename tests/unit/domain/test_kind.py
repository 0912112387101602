"""The kinds of a table are read from where their values are declared."""

from typing import Annotated, Literal, get_args

import pytest
from pydantic import Field, TypeAdapter, ValidationError

from gpupanel.domain.choice import Choice
from gpupanel.domain.data import DataSettings, ImagesData, KerasData, NpzData
from gpupanel.domain.kind import Kind, kind, kinds_of
from gpupanel.domain.model import ApplicationModel, CnnModel, ModelSettings, SavedModel, saved_model
from gpupanel.domain.setting import PathKind, setting, settings_of
from gpupanel.domain.value import Value


class _Square(Value):
    source: Literal["square"] = kind(Choice("square", "Square: four equal sides", "All equal."))
    side: int = setting("Side", "Its length.", default=1)


class _Drawn(Value):
    source: Literal["circle", "star"] = kind(Choice("circle", "Circle…"), Choice("star", "Star"))
    path: str = setting("File", "Where it is.", path=PathKind((".svg",), "Drawings", "Choose"))
    label: str = setting("Label", "Its name.")


_Shape = Annotated[_Square | _Drawn, Field(discriminator="source")]


@pytest.mark.parametrize("union", [_Shape, _Square | _Drawn])
def test_that_kinds_come_in_the_order_in_which_they_are_declared(union):
    assert kinds_of(union) == (
        Kind(Choice("square", "Square: four equal sides", "All equal."), _Square),
        Kind(Choice("circle", "Circle…"), _Drawn),
        Kind(Choice("star", "Star"), _Drawn),
    )


def test_that_a_kind_has_a_short_name():
    assert [each.name for each in kinds_of(_Shape)] == ["Square", "Circle", "Star"]


def test_that_a_new_value_has_the_defaults_and_empty_texts():
    square, circle, star = kinds_of(_Shape)
    assert square.new() == _Square()
    assert circle.new() == _Drawn(source="circle", path="", label="")
    assert star.new(path="a.svg") == _Drawn(source="star", path="a.svg", label="")


def test_that_a_new_value_is_checked():
    with pytest.raises(ValidationError):
        kinds_of(_Shape)[0].new(side="long")


def test_that_the_only_kind_of_a_value_need_not_be_said():
    assert _Square().source == "square"
    with pytest.raises(ValidationError):
        _Drawn(path="", label="")


def test_that_what_kind_it_is_is_no_setting_of_a_value():
    assert [each.name for each in settings_of(_Square)] == ["side"]


@pytest.mark.parametrize("union", [DataSettings, ModelSettings])
def test_that_each_kind_of_a_profile_is_declared_with_its_words(union):
    kinds = kinds_of(union)
    for values in get_args(get_args(union)[0]):
        sources = get_args(values.model_fields["source"].annotation)
        assert tuple(each.source for each in kinds if each.values is values) == sources
    assert all(each.choice.label and each.choice.description.endswith(".") for each in kinds)
    assert len({each.choice.label for each in kinds}) == len(kinds)


@pytest.mark.parametrize("union", [DataSettings, ModelSettings])
def test_that_a_new_value_of_each_kind_is_one_of_the_profile(union):
    for each in kinds_of(union):
        value = each.new()
        assert type(value) is each.values
        assert TypeAdapter(union).validate_python(value.model_dump()) == value


def test_that_values_of_a_profile_know_their_kind():
    kinds = {each.source: each for each in kinds_of(DataSettings)}
    assert kinds["imdb"].new() == KerasData(source="imdb")
    assert kinds["npz"].new() == NpzData(path="")
    assert kinds["images"].new(shuffle=False) == ImagesData(path="", shuffle=False)
    sources = [each.source for each in kinds_of(ModelSettings)]
    assert [sources[0], sources[1], sources[-1]] == ["mlp", "cnn", "python"]
    assert "EfficientNetB0" in sources
    assert [each.source for each in kinds_of(ModelSettings) if each.new().is_saved] == ["saved"]
    models = {each.source: each for each in kinds_of(ModelSettings)}
    assert models["cnn"].new() == CnnModel()
    assert models["saved"].new() == SavedModel()
    assert models["VGG16"].new() == ApplicationModel(source="VGG16")
    assert saved_model("/m.keras") == SavedModel(path="/m.keras")
