"""What a run can be exported as, as a menu."""

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QMenu, QWidget

from gpupanel.runs.tools.export.export_format import ExportFormat, ModelExportFormat
from gpupanel.ui.widgets.tips import wrapped

if TYPE_CHECKING:
    from PySide6.QtGui import QAction

EXPORT_TIP = (
    "Writes the run as a report, a notebook, a script or a job of Slurm, or its model for other "
    "programs"
)
"""The tooltip of the button that opens the menu."""


class ExportMenu(QMenu):
    """An entry for each format, for a button or another menu.

    Args:
        title: Of the menu.
        only_models: It offers the formats of a model, and none of a run.
        parent: What it belongs to.
    """

    chosen = Signal(object)
    """A run is to be written as this :class:`ExportFormat` or :class:`ModelExportFormat`."""

    def __init__(
        self,
        parent: QWidget | None = None,
        *,
        title: str = "E&xport",
        only_models: bool = False,
    ) -> None:
        super().__init__(title, parent)
        self.setToolTipsVisible(True)
        self._of_training: list[QAction] = []
        if not only_models:
            for wanted in ExportFormat:
                self._add(wanted, f"&{wanted.title}…")
            self.addSeparator()
        for model in ModelExportFormat:
            self._add(model, f"{model.title}…")

    def setProgram(self, *, is_program: bool) -> None:
        """Whether a program of the person's own ran, of which there is no script and no model."""
        for entry in self._of_training:
            entry.setVisible(not is_program)

    def _add(self, wanted: ExportFormat | ModelExportFormat, text: str) -> None:
        entry = self.addAction(text)
        entry.setObjectName(f"export_{wanted.value}")
        entry.setToolTip(wrapped(wanted.description))
        if wanted is not ExportFormat.REPORT:
            self._of_training.append(entry)
        entry.triggered.connect(partial(self._choose, wanted))

    def _choose(self, wanted: ExportFormat | ModelExportFormat, _is_checked: object = None) -> None:
        self.chosen.emit(wanted)
