"""Values with the words that people read."""

from pydantic import TypeAdapter

from gpupanel.domain.choice import Choice
from tests.fakes.every_setting import Shade


def test_that_a_member_is_its_value_and_has_its_words() -> None:
    assert Shade("light") is Shade.LIGHT
    assert Shade.LIGHT == "light"
    assert Shade.LIGHT.choice == Choice("light", "Light grey", "As | snow.")


def test_that_a_member_without_words_is_called_as_its_value() -> None:
    assert Shade.DARK.choice == Choice("dark", "dark", "")


def test_that_the_schema_of_an_enum_has_the_words_of_each_value() -> None:
    assert TypeAdapter(Shade).json_schema() == {
        "type": "string",
        "title": "Shade",
        "oneOf": [
            {"const": "light", "title": "Light grey", "description": "As | snow."},
            {"const": "dark", "title": "dark"},
        ],
    }
