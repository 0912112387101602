"""What a run can be exported as, as a menu."""

from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QMenu, QWidget

from gpupanel.runs.export_format import ExportFormat
from gpupanel.ui.widgets.tips import wrapped


class ExportMenu(QMenu):
    """An entry for each format, for a button or another menu."""

    chosen = Signal(object)
    """A run is to be written as this :class:`ExportFormat`."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("E&xport", parent)
        self.setToolTipsVisible(True)
        for wanted in ExportFormat:
            entry = self.addAction(f"&{wanted.title}…")
            entry.setObjectName(f"export_{wanted.value}")
            entry.setToolTip(wrapped(wanted.description))
            entry.triggered.connect(partial(self._choose, wanted))

    def _choose(self, wanted: ExportFormat, _is_checked: object = None) -> None:
        self.chosen.emit(wanted)
