"""Has models exported, and shows how far that is and what came of it."""

from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QUrl, Slot
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QWidget

from gpupanel.domain.model_export import ModelExport, ModelExportRequest
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.questions.question import OnProgress, Question
from gpupanel.runs.tools.export.export_format import ModelExportFormat
from gpupanel.runs.tools.export.model_export import export_model, model_export_request, write_model
from gpupanel.runs.tools.export.saved_models import other_weights
from gpupanel.ui.workers.tool_worker import ToolWorker

if TYPE_CHECKING:
    from gpupanel.ui.tools.export.model_dialog import ModelExportDialog


class ModelExportBinding(QObject):
    """Opens the dialog; an export ends with it.

    Args:
        window: What the dialog stands before.
        question: Writes models.
    """

    def __init__(
        self,
        window: QWidget,
        question: Question[ModelExportRequest, ModelExport] = write_model,
    ) -> None:
        super().__init__(window)
        self._window, self.question = window, question
        self.exporter = ToolWorker("exporting a model", ModelExport, self)
        self._dialog: ModelExportDialog | None = None

    def begin(
        self, layout: RunLayout, wanted: ModelExportFormat, output: Path, *, is_other: bool = False
    ) -> None:
        """Write the model of that run there, in place of an export that goes on.

        Args:
            layout: The run.
            wanted: As what.
            output: The file, or the folder of a SavedModel.
            is_other: The one with the weights that the run did not keep.
        """
        if self._dialog is None:
            self._dialog = self._new_dialog()
        question = self.question

        def ask(*, cancelled: Event, on_progress: OnProgress) -> ModelExport:
            weights = other_weights(layout) if is_other else None
            held = wanted.quantization
            request = model_export_request(layout, output, wanted.model_format, held, weights)
            return export_model(
                request, question=question, cancelled=cancelled, on_progress=on_progress
            )

        self.exporter.begin(ask)
        self._dialog.begin(layout.name, wanted, output)
        self._dialog.show()
        self._dialog.activateWindow()

    def stop(self) -> None:
        """Write no more; the process that did is ended, and what it wrote removed."""
        if self._dialog is not None:
            self._dialog.close()
        self.exporter.stop()

    def _new_dialog(self) -> "ModelExportDialog":
        # Here and not above: most windows never need it.
        from gpupanel.ui.tools.export.model_dialog import ModelExportDialog

        dialog = ModelExportDialog(self._window)
        dialog.closed.connect(self.exporter.cancel)
        dialog.cancelRequested.connect(self.exporter.cancel)
        dialog.folderRequested.connect(self._open_folder)
        self.exporter.busyChanged.connect(dialog.setBusy)
        self.exporter.answered.connect(dialog.setExport)
        return dialog

    @Slot(object)
    def _open_folder(self, folder: Path) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder)))
