"""Shows examples of the run that is shown: its mistakes, a cell of its matrix, its predictions."""

from typing import TYPE_CHECKING

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QWidget
from typing_extensions import override

from gpupanel.domain.shown_examples import ExampleChoice, ShownExamples, ShownRequest
from gpupanel.runs.questions.shown_examples import shown_examples
from gpupanel.ui.bindings.model_runs import ModelRuns
from gpupanel.ui.panels.evaluation_panel import EvaluationPanel
from gpupanel.ui.tools.tool_binding import ToolBinding
from gpupanel.ui.workers.tool_worker import QuestionWorker

if TYPE_CHECKING:
    from gpupanel.ui.tools.examples.dialog import ExamplesDialog


class ExamplesBinding(ToolBinding):
    """Has examples read when the page asks for them.

    Args:
        panel: Asks; shows predictions itself.
        looked_at: Knows the run whose results it shows.
        window: What the dialog stands before.
    """

    worker: QuestionWorker[ShownRequest]

    def __init__(self, panel: EvaluationPanel, looked_at: ModelRuns, window: QWidget) -> None:
        super().__init__(QuestionWorker(shown_examples), window)
        self._panel, self._looked_at, self._window = panel, looked_at, window
        self.worker.answered.connect(self._show)
        self._dialog: ExamplesDialog | None = None
        self._title = ""
        self._choice: ExampleChoice | None = None
        panel.examplesRequested.connect(self._open)
        panel.predictionsRequested.connect(self._load)
        looked_at.looked_at_changed.connect(self._forget)

    @override
    def stop(self) -> None:
        if self._dialog is not None:
            self._dialog.close()
        super().stop()

    @Slot(str, object)
    def _open(self, title: str, choice: ExampleChoice) -> None:
        """Show examples in the dialog."""
        if self._dialog is None:
            self._dialog = self._new_dialog()
        self._title = title
        self._dialog.show()
        self._dialog.activateWindow()
        self._read_for_dialog(choice)

    def _new_dialog(self) -> "ExamplesDialog":
        # Here and not above: most windows never need it.
        from gpupanel.ui.tools.examples.dialog import ExamplesDialog

        dialog = ExamplesDialog(self._window)
        dialog.table.choiceRequested.connect(self._read_for_dialog)
        dialog.closed.connect(self.worker.cancel)
        return dialog

    @Slot(object)
    def _read_for_dialog(self, choice: ExampleChoice) -> None:
        if self._dialog is not None:
            self._dialog.setReading(self._title, choice)
        self._load(choice)

    @Slot(object)
    def _load(self, choice: ExampleChoice) -> None:
        layout, profile = self._looked_at.layout, self._looked_at.profile
        status = self._looked_at.status
        if layout is None or profile is None or status is None:
            return
        path = layout.confusion
        if choice.which == "predictions":
            if not status.predictions:
                return
            # Not what the run says of it, which may lead anywhere.
            path = layout.predictions("csv" if status.predictions.endswith(".csv") else "npz")
            self._panel.setReadingPredictions(choice)
        self._choice = choice
        self.worker.ask(ShownRequest(profile=profile, file=str(path), choice=choice))

    @Slot(object)
    def _show(self, found: ShownExamples) -> None:
        choice = self._choice
        if choice is None:
            return
        if choice.which == "predictions":
            self._panel.setPredictedExamples(choice, found)
        elif self._dialog is not None:
            self._dialog.setExamples(choice, found)

    @Slot()
    def _forget(self) -> None:
        """Another run is looked at."""
        self.worker.cancel()
        if self._dialog is not None:
            self._dialog.close()
