"""One of a few values for each of some names: ``mask: classes, size: values``."""

from collections.abc import Mapping, Sequence

from PySide6.QtWidgets import QWidget
from typing_extensions import override

from gpupanel.domain.choice import Choice
from gpupanel.ui.inputs.checked_line import CheckedLine
from gpupanel.ui.inputs.input import quoted


class NamedChoicesEdit(CheckedLine):
    """A table of values by names; its value is a dictionary of texts."""

    def __init__(
        self,
        choices: Sequence[Choice],
        *,
        placeholder: str,
        most_length: int,
        parent: QWidget | None = None,
    ) -> None:
        """Makes the field.

        Args:
            choices: Which values a name may have.
            placeholder: Shown while there are no names.
            most_length: How many names there may be.
            parent: The owner in Qt's sense.
        """
        super().__init__({}, parent)
        self._values = [choice.value for choice in choices]
        self._most_length = most_length
        self.setPlaceholderText(placeholder)

    @override
    def setValue(self, value: Mapping[str, object]) -> None:
        """Shows a table silently."""
        super().setValue({name: str(each) for name, each in value.items()})

    @override
    def _read(self, text: str) -> dict[str, str]:
        read: dict[str, str] = {}
        for part in filter(None, map(str.strip, text.split(","))):
            name, _, value = (each.strip() for each in part.rpartition(":"))
            if not name or value not in self._values:
                raise ValueError(
                    f"{quoted(part)} is not a name with one of {', '.join(self._values)}: write "
                    f"NAME: {self._values[0]}."
                )
            if name in read:
                raise ValueError(f"{quoted(name)} is named twice.")
            read[name] = value
        if len(read) > self._most_length:
            raise ValueError(f"There may be {self._most_length:,} names at most.")
        return read

    @override
    def _text_of(self, value: Mapping[str, str]) -> str:
        return ", ".join(f"{name}: {each}" for name, each in value.items())
