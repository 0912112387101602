"""The GPUs that the driver counts and that have not answered, below those that have."""

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from gpupanel.domain.device import UnresponsiveGpu
from gpupanel.ui.panels.device_panel.unresponsive_card import UnresponsiveCard
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.layouts import column_in, discard


class UnresponsiveCards(QWidget):
    """A card for each; hidden while there is none."""

    doctorRequested = Signal()
    """A person wants to know more about one of them."""
    wakeRequested = Signal()
    """A person wants to have sleeping GPUs asked who they are."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._gpus: tuple[UnresponsiveGpu, ...] = ()
        self._cards: tuple[UnresponsiveCard, ...] = ()
        self._column = column_in(self, spacing=GRID)
        self.hide()

    @property
    def all(self) -> tuple[UnresponsiveCard, ...]:
        """The cards from top to bottom."""
        return self._cards

    def setSpacing(self, spacing: int) -> None:
        """Have so many pixels between the cards, as between those of other devices."""
        self._column.setSpacing(spacing)

    def setGpus(self, gpus: tuple[UnresponsiveGpu, ...]) -> bool:
        """Show these; whether they are others than before."""
        if gpus == self._gpus:
            return False
        self._gpus = gpus
        discard(self._column, self._cards)
        self._cards = tuple(UnresponsiveCard(gpu) for gpu in gpus)
        for card in self._cards:
            card.doctorRequested.connect(self.doctorRequested)
            card.wakeRequested.connect(self.wakeRequested)
            self._column.addWidget(card)
        self.setVisible(bool(gpus))
        return True
