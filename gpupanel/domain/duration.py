"""Times as people write them in a profile: ``90m``, ``8h``, ``1h30m``, ``2d``."""

import re
from typing import Annotated, Final

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

_UNITS_S: Final = {"d": 86_400.0, "h": 3_600.0, "m": 60.0, "s": 1.0}
_PARTS: Final = re.compile(
    r"\s*".join(rf"(?:(?P<{unit}>\d{{1,6}}(?:\.\d{{1,6}})?)\s*{unit})?" for unit in _UNITS_S)
)
ALLOWED: Final = 'a time in quotes, such as "90m", "8h", "1h30m" or "2d"'


def seconds_of(text: str) -> float:
    """How many seconds a time has: days, hours, minutes and seconds, in this order.

    Raises:
        ValueError: It is none, or 0.
    """
    found = _PARTS.fullmatch(text.strip())
    parts = {} if found is None else found.groupdict()
    seconds = sum(float(number) * _UNITS_S[unit] for unit, number in parts.items() if number)
    if not seconds:
        raise ValueError(f"it must be {ALLOWED}")
    return seconds


class IsDuration:
    """Marks a text of a profile as a time; it stays as it was written."""

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """The schema of the text, checked."""
        return core_schema.no_info_after_validator_function(_checked, handler(source))


def _checked(text: str) -> str:
    seconds_of(text)
    return text


Duration = Annotated[str, IsDuration()]
