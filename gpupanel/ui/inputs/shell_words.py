"""Texts in one line, quoted as in a shell: arguments of a program, and variables that it gets."""

import math
import re
import shlex
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final

from pydantic import ValidationError
from PySide6.QtWidgets import QWidget
from typing_extensions import override

from gpupanel.domain.script import MOST_ARGUMENTS, ScriptSettings
from gpupanel.ui.inputs.checked_line import CheckedLine
from gpupanel.ui.inputs.input import quoted

_BARE: Final = re.compile(r"[\w@%+=:,./{}-]+", re.ASCII)
"""What stands for nothing else, as :mod:`shlex` has it, and braces."""
_LONGEST_LINE: Final = 2**20
"""Characters: a command has as much room as Linux gives to all of its arguments, at the most."""


class ArgumentsEdit(CheckedLine):
    """The arguments of a program as a person would type them behind its name; a tuple of texts."""

    def __init__(self, *, placeholder: str, parent: QWidget | None = None) -> None:
        """Makes the line.

        Args:
            placeholder: Shown while there are none.
            parent: The owner in Qt's sense.
        """
        super().__init__((), parent)
        self.setMaxLength(_LONGEST_LINE)
        self.setPlaceholderText(placeholder)

    @override
    def setValue(self, value: Sequence[str]) -> None:
        """Shows arguments silently."""
        super().setValue(tuple(value))

    @override
    def _read(self, text: str) -> tuple[str, ...]:
        return _checked(arguments=tuple(_words(text))).arguments

    @override
    def _text_of(self, value: Sequence[str]) -> str:
        return " ".join(map(_quoted, value))


class VariablesEdit(CheckedLine):
    """Environment variables as a shell takes them before a command; a dictionary of texts."""

    def __init__(self, *, placeholder: str, parent: QWidget | None = None) -> None:
        """Makes the line.

        Args:
            placeholder: Shown while there are none.
            parent: The owner in Qt's sense.
        """
        super().__init__({}, parent)
        self.setMaxLength(_LONGEST_LINE)
        self.setPlaceholderText(placeholder)

    @override
    def setValue(self, value: Mapping[str, object]) -> None:
        """Shows variables silently."""
        super().setValue(dict(value))

    @override
    def _read(self, text: str) -> Mapping[str, object]:
        return _checked(environment=_named(text)).environment

    @override
    def _text_of(self, value: Mapping[str, object]) -> str:
        # The name needs no quotation marks, and reads better without.
        return " ".join(f"{name}={_quoted(_written(each))}" for name, each in value.items())


class ValuesEdit(VariablesEdit):
    """Values of names, written as variables are; what is written as a number is one."""

    @override
    def _read(self, text: str) -> Mapping[str, object]:
        return _checked(values={name: _meant(each) for name, each in _named(text).items()}).values


def _named(text: str) -> dict[str, str]:
    """The texts of a line by their names.

    Raises:
        ValueError: It cannot be divided, or a name has none, or several.
    """
    read: dict[str, str] = {}
    for word in _words(text):
        name, is_set, value = word.partition("=")
        if not is_set:
            raise ValueError(f"{quoted(word)} is no variable: write NAME=value.")
        if name in read:
            raise ValueError(f"{quoted(name)} is set twice.")
        read[name] = value
    return read


def _written(value: object) -> str:
    """As a program is given it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _meant(text: str) -> object:
    """The value that is written so, digit by digit; else the text."""
    if text in ("true", "false"):
        return text == "true"
    for kind in (int, float):
        with suppress(ValueError):
            number = kind(text)
            if str(number) == text and math.isfinite(number):
                return number
    return text


def _quoted(word: str) -> str:
    """A word as a shell takes it; braces stand for values here, and need no quotation marks."""
    return word if _BARE.fullmatch(word) else shlex.quote(word)


def _words(text: str) -> list[str]:
    """The words of a line as a shell divides it; nothing in them stands for anything else.

    Raises:
        ValueError: It cannot be divided, or into too many.
    """
    try:
        words = shlex.split(text)
    except ValueError as error:
        if "escape" in str(error):
            raise ValueError("A backslash at the end has nothing behind it.") from error
        raise ValueError("A quotation mark is not closed.") from error
    if len(words) > MOST_ARGUMENTS:
        raise ValueError(f"There may be {MOST_ARGUMENTS:,} at most, and these are {len(words):,}.")
    return words


def _checked(**read: object) -> ScriptSettings:
    """A program that is given that.

    Raises:
        ValueError: None can be.
    """
    try:
        return ScriptSettings.model_validate({"path": "", **read})
    except ValidationError as error:
        first = error.errors()[0]
        why = str(first.get("ctx", {}).get("error", first["msg"]))
        raise ValueError(f"{why[:1].upper()}{why[1:]}.") from error
