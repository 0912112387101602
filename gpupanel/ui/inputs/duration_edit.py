"""A time that is typed as ``1h30m``, or left out."""

from PySide6.QtWidgets import QWidget
from typing_extensions import override

from gpupanel.domain.duration import seconds_of
from gpupanel.ui.inputs.checked_line import CheckedLine
from gpupanel.ui.inputs.input import quoted


class DurationEdit(CheckedLine):
    """A time as a profile has it; an empty line is ``None``."""

    def __init__(self, *, off: str, parent: QWidget | None = None) -> None:
        """Makes the field.

        Args:
            off: What leaving it out means; shown while the line is empty.
            parent: The owner in Qt's sense.
        """
        super().__init__(None, parent)
        self.setPlaceholderText(f"{off[:1].upper()}{off[1:]}")

    @override
    def _read(self, text: str) -> str | None:
        if not text.strip():
            return None
        try:
            seconds_of(text)
        except ValueError as error:
            raise ValueError(
                f"{quoted(text)} is not a time; times are written as in 90m, 8h, 1h30m or 2d."
            ) from error
        return text.strip()

    @override
    def _text_of(self, value: str | None) -> str:
        return value or ""
