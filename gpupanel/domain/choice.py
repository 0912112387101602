"""The values of a setting that has few, with the words that people read."""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from pydantic import GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema


@dataclass(frozen=True, slots=True)
class Choice:
    """One value.

    Attributes:
        value: As a profile has it.
        label: What people read.
        description: One sentence that teaches what it does.
    """

    value: str
    label: str
    description: str = ""

    @property
    def name(self) -> str:
        """The label without what explains it: "CNN" of "CNN: convolutions"."""
        return re.split(r": | \N{MIDDLE DOT} ", self.label)[0]

    def json_schema(self) -> dict[str, str]:
        """The value with its words, as JSON schema has them."""
        words = {"const": self.value, "title": self.label, "description": self.description}
        return {key: text for key, text in words.items() if text or key == "const"}


class ChoiceEnum(StrEnum):
    """Values that are declared with their words: ``ADAM = "adam", "Adam", "Adapts ..."``."""

    label: str
    """What people read."""
    description: str
    """One sentence that teaches what it does."""

    def __new__(cls, value: str, label: str = "", description: str = "") -> Self:
        """A member, as :class:`~enum.StrEnum` makes it."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.label = label or value
        member.description = description
        return member

    @property
    def choice(self) -> Choice:
        """The value with its words."""
        return Choice(self.value, self.label, self.description)

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """The values with their words, as JSON schema has them."""
        document = handler(core_schema)
        return {
            "type": "string",
            "title": document.get("title", cls.__name__),
            "oneOf": [each.choice.json_schema() for each in cls],
        }
