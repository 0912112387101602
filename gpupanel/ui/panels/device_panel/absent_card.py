"""The card of a device that a profile names and this machine does not have."""

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from gpupanel.domain.profile import DeviceDescription
from gpupanel.ui import formatting
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.color_dot import ColorDot
from gpupanel.ui.widgets.labels import ElidedLabel, Tone, set_tone
from gpupanel.ui.widgets.tips import wrapped


class AbsentCard(QFrame):
    """Kept until a person removes it: the profile may be at home on another machine.

    Args:
        key: The device's key.
        description: What the device was, where the profile says.
        in_use: Whether the profile wants to use it, or only keeps settings for it.
        place: Where it is not: "in this machine".
    """

    removed = Signal(str)
    """The key that a person wants the profile to forget."""

    def __init__(
        self,
        key: str,
        description: DeviceDescription | None,
        *,
        in_use: bool,
        place: str = "in this machine",
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setProperty("card", True)
        self._key, self._description, self._is_in_use = key, description, in_use
        dot = ColorDot(None)
        dot.setFilled(False)
        name = ElidedLabel(_called(key, description))
        name.setProperty("role", "title")
        name.setToolTip(wrapped(key if description is None else f"{description.name}\n{key}"))
        sentence = QLabel(
            f"Not {place}, but selected in the profile."
            if in_use
            else f"Not {place}; the profile has memory settings for it."
        )
        sentence.setWordWrap(True)
        set_tone(sentence, Tone.WARNING if in_use else Tone.MUTED)
        remove = QPushButton("Remove from profile")
        remove.setToolTip(
            "Removes this device from the profile; the other devices stay as they are."
        )
        remove.clicked.connect(self._take_removal)
        head = QHBoxLayout()
        head.setSpacing(GRID)
        head.addWidget(dot)
        head.addWidget(name, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(12, GRID, 12, 12)
        layout.setSpacing(GRID)
        layout.addLayout(head)
        layout.addWidget(sentence)
        layout.addWidget(remove)

    @property
    def key(self) -> str:
        """The device's key."""
        return self._key

    @property
    def description(self) -> DeviceDescription | None:
        """What the device was, where the profile says."""
        return self._description

    @property
    def is_in_use(self) -> bool:
        """Whether the profile wants to use it, or only keeps settings for it."""
        return self._is_in_use

    @Slot()
    def _take_removal(self) -> None:
        self.removed.emit(self._key)


def _called(key: str, description: DeviceDescription | None) -> str:
    if description is None:
        return key
    name = formatting.short_device_name(description.name)
    size = description.memory_total_mib
    return name if size is None else f"{name}, {formatting.mib(size)}"
