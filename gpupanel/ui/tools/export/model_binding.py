"""Has models exported, and shows how far that is and what came of it."""

from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

from PySide6.QtCore import QUrl, Slot
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QWidget
from typing_extensions import override

from gpupanel.domain.model_export import ModelExport
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.questions.question import OnProgress
from gpupanel.runs.tools.export.export_format import ModelExportFormat
from gpupanel.runs.tools.export.model_export import Write, export_model, model_export_request
from gpupanel.runs.tools.export.saved_models import other_weights
from gpupanel.ui.tools.tool_binding import ToolDialogBinding
from gpupanel.ui.workers.tool_worker import ToolWorker
from gpupanel.ui.workers.workplace import workplace

if TYPE_CHECKING:
    from gpupanel.ui.tools.export.model_dialog import ModelExportDialog


class ModelExportBinding(ToolDialogBinding["ModelExportDialog"]):
    """Opens the dialog; an export ends with it.

    Args:
        window: What the dialog stands before.
        question: Writes models; the machine that is worked on does when left out.
    """

    def __init__(
        self,
        window: QWidget,
        question: Write | None = None,
    ) -> None:
        super().__init__(ToolWorker("exporting a model", ModelExport), window)
        self.question = question

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
        dialog, question = self._dialog_made(), self.question or workplace().exports.write_model

        def ask(*, cancelled: Event, on_progress: OnProgress) -> ModelExport:
            weights = other_weights(layout) if is_other else None
            held = wanted.quantization
            request = model_export_request(layout, output, wanted.model_format, held, weights)
            return export_model(
                request, question=question, cancelled=cancelled, on_progress=on_progress
            )

        self.worker.begin(ask)
        dialog.begin(layout.name, wanted, output)
        dialog.show()
        dialog.activateWindow()

    @override
    def _dialog_class(self) -> "type[ModelExportDialog]":
        from gpupanel.ui.tools.export.model_dialog import ModelExportDialog

        return ModelExportDialog

    @override
    def _connected(self, dialog: "ModelExportDialog") -> "ModelExportDialog":
        dialog.folderRequested.connect(self._open_folder)
        return super()._connected(dialog)

    @Slot(object)
    def _open_folder(self, folder: Path) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder)))
