"""The menu of formats that curves can be saved in."""

from functools import partial

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QMenu, QWidget

from gpupanel.ui.plots.picture import PictureFormat

TABLE_TIP = "Writes every value of these runs into a CSV file: run, step, time_s, metric, value"


class PictureMenu(QMenu):
    """Pictures on white and as the window looks."""

    chosen = Signal(object, bool)
    """Which :class:`PictureFormat`, and whether on white."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        for is_on_white, background in ((True, "white background"), (False, "current theme")):
            for wanted in PictureFormat:
                entry = self.addAction(f"{wanted.name}, {background}…")
                entry.setObjectName(f"picture_{wanted.value}_{'white' if is_on_white else 'theme'}")
                entry.triggered.connect(partial(self._choose, wanted, is_on_white))

    @Slot()
    def choose_first(self) -> None:
        """Save in the first format, as a click on the button does."""
        self.chosen.emit(PictureFormat.PNG, True)

    def _choose(self, wanted: PictureFormat, is_on_white: bool, _is_checked: object = None) -> None:
        self.chosen.emit(wanted, is_on_white)
