"""The devices that a profile names and that are not here, below those that are."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from gpupanel.domain.profile import DeviceSettings
from gpupanel.ui.panels.device_panel.absent_card import AbsentCard
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.labels import Note
from gpupanel.ui.widgets.layouts import MOST_ROWS, column_in, discard


class AbsentCards(QWidget):
    """A card for each, as many as have room; hidden while there is none."""

    removed = Signal(str)
    """The key that a person wants the profile to forget."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shown: Sequence[tuple[object, ...]] = ()
        self._cards: list[AbsentCard] = []
        self._more = Note()
        self._more.hide()
        self._column = column_in(self, spacing=GRID)
        self._column.addWidget(self._more)
        self.hide()

    def setDevices(
        self, keys: Sequence[str], devices: DeviceSettings, place_of: Callable[[str], str]
    ) -> None:
        """Show these devices.

        Args:
            keys: Of the devices that are not here.
            devices: What the profile says of them.
            place_of: Where the device with a key is not, in words.
        """
        wanted = [(key, devices.described.get(key), key in devices.visible) for key in keys]
        if wanted == list(self._shown):
            return
        self._shown = wanted
        discard(self._column, self._cards)
        few = wanted if len(wanted) <= MOST_ROWS else wanted[: MOST_ROWS - 1]
        self._cards = [
            AbsentCard(key, known, in_use=used, place=place_of(key)) for key, known, used in few
        ]
        for place, card in enumerate(self._cards):
            card.removed.connect(self.removed)
            self._column.insertWidget(place, card)
        more = len(wanted) - len(few)
        self._more.setText(f"and {more:,} more devices of the profile" if more else "")
        self._more.setVisible(more > 0)
        self.setVisible(bool(wanted))
