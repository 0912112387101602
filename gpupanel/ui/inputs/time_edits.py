"""Times that are typed as a profile has them: ``1h30m``, or ``22:00-07:00``; or left out."""

from abc import abstractmethod

from PySide6.QtWidgets import QWidget
from typing_extensions import override

from gpupanel.domain.duration import seconds_of
from gpupanel.domain.hours import hours_of
from gpupanel.ui.inputs.checked_line import CheckedLine
from gpupanel.ui.inputs.input import quoted


class _TimeEdit(CheckedLine):
    """An empty line is ``None``.

    Args:
        off: What leaving it out means; shown while the line is empty.
        parent: The owner in Qt's sense.
    """

    def __init__(self, *, off: str, parent: QWidget | None = None) -> None:
        super().__init__(None, parent)
        self.setPlaceholderText(f"{off[:1].upper()}{off[1:]}")

    @abstractmethod
    def _check(self, text: str) -> None:
        """Raise a ``ValueError`` with a sentence where the text is no such time."""

    @override
    def _read(self, text: str) -> str | None:
        if not text.strip():
            return None
        self._check(text)
        return text.strip()

    @override
    def _text_of(self, value: str | None) -> str:
        return value or ""


class DurationEdit(_TimeEdit):
    """How long something takes."""

    @override
    def _check(self, text: str) -> None:
        try:
            seconds_of(text)
        except ValueError as error:
            raise ValueError(
                f"{quoted(text)} is not a time; times are written as in 90m, 8h, 1h30m or 2d."
            ) from error


class HoursEdit(_TimeEdit):
    """Hours of the day or the week."""

    @override
    def _check(self, text: str) -> None:
        try:
            hours_of(text.strip())
        except ValueError as error:
            raise ValueError(
                f"{error}. Hours are written as in 22:00-07:00 or Mon-Fri 19:00-07:00, Sat-Sun."
            ) from error
