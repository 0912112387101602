"""The values of a swept setting as a person types them, in one line: ``0.1, 0.01``.

Numbers stand apart by commas; lists and texts, which may hold a comma, by semicolons. What cannot
be written so is written as in a profile, in TOML.
"""

import math
import re
from collections.abc import Sequence
from typing import Final

from gpupanel.domain.setting import Setting, SettingType
from gpupanel.domain.sweep import MOST_TRIALS, SweptValue
from gpupanel.domain.toml_text import read_toml, toml_value

_NUMBERS: Final = (SettingType.COUNT, SettingType.NUMBER, SettingType.CHOICE_OR_COUNT)
_LISTS: Final = (SettingType.COUNTS, SettingType.SIZE)
_MOST_DIGITS: Final = 18
"""The most digits of a whole number: more do not fit into 64 bits."""
_LONGEST_QUOTE: Final = 24
_EMPTY_LIST: Final = "none"
_SWITCHED: Final = {"true": True, "false": False}


def swept_values(setting: Setting, text: str) -> tuple[SweptValue, ...]:
    """The values in a text; none where it is empty.

    Raises:
        ValueError: They cannot be read; says why, as a sentence.
    """
    if any(mark in text for mark in '"[{'):
        return _of_toml(text)
    if setting.type in _NUMBERS:
        named = {choice.value for choice in setting.choices}
        words = [word for word in re.split(r"[,;\s]+", text) if word]
        values: tuple[SweptValue, ...] = tuple(
            word if word in named else _number(word) for word in words
        )
    elif setting.type in _LISTS:
        parts = [part.strip() for part in text.split(";")]
        values = tuple(_counts(part) for part in parts if part)
    else:
        values = tuple(part.strip() for part in text.split(";") if part.strip())
    if len(values) > MOST_TRIALS:
        raise ValueError(f"There may be {MOST_TRIALS:,} values at most; give it a range.")
    return values


def swept_text(setting: Setting, values: Sequence[SweptValue]) -> str:
    """The text from which :func:`swept_values` reads these values."""
    if setting.type in _NUMBERS:
        text = ", ".join(_word(value) for value in values)
    else:
        text = "; ".join(_word(value) for value in values)
    try:
        same = [*map(_exact, swept_values(setting, text))] == [*map(_exact, values)]
    except ValueError:
        same = False
    return text if same else toml_value(tuple(values))[1:-1]


def example_text(setting: Setting) -> str:
    """How several values of a setting are typed, to be shown in an empty field."""
    if setting.type in _NUMBERS:
        return "0.1, 0.01" if setting.type is SettingType.NUMBER else "16, 32, 64"
    if setting.type is SettingType.SIZE:
        return "128, 128; 256, 256"
    return "64; 128, 64" if setting.type is SettingType.COUNTS else "one; another"


def _of_toml(text: str) -> tuple[SweptValue, ...]:
    try:
        values = read_toml(f"v = [{text}]")["v"]
    except ValueError:
        raise ValueError("This is not a list of values as in a profile.") from None
    found = tuple(tuple(each) if isinstance(each, list) else each for each in values)
    flat = [part for each in found for part in (each if isinstance(each, tuple) else (each,))]
    if not all(isinstance(part, bool | int | float | str) for part in flat):
        raise ValueError("Values are numbers, texts, true or false, or lists of numbers or texts.")
    return found


def _number(word: str) -> bool | int | float:
    if word in _SWITCHED:
        return _SWITCHED[word]  # no number, which whoever checks the values says
    if re.fullmatch(rf"[+-]?[0-9]{{1,{_MOST_DIGITS}}}", word):
        return int(word)
    try:
        number = float(word)
    except ValueError:
        number = math.nan
    if not math.isfinite(number) or "_" in word:
        raise ValueError(f"{_quoted(word)} is not a number; numbers are separated by commas.")
    return number


def _counts(text: str) -> tuple[int, ...]:
    if text == _EMPTY_LIST:
        return ()
    words = [word for word in re.split(r"[,\s]+", text) if word]
    strange = next((word for word in words if not re.fullmatch(r"[0-9]{1,7}", word)), None)
    if strange is not None:
        raise ValueError(
            f"{_quoted(strange)} is not a whole number; lists are separated by semicolons, as in "
            "“64; 128, 64”."
        )
    return tuple(map(int, words))


def _word(value: SweptValue) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(str, value)) or _EMPTY_LIST
    return value if isinstance(value, str) else toml_value(value)


def _exact(value: SweptValue) -> tuple[type, SweptValue]:
    """What distinguishes 1, 1.0 and true."""
    return type(value), value


def _quoted(text: str) -> str:
    return f"“{text if len(text) <= _LONGEST_QUOTE else f'{text[:_LONGEST_QUOTE]}…'}”"
