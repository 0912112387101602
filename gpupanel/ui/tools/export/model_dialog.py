"""How far the export of a model is, and what came of it."""

from pathlib import Path
from shlex import quote

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QWidget
from typing_extensions import override

from gpupanel.domain.model_export import ModelExport, export_sentence
from gpupanel.domain.problem import Severity
from gpupanel.domain.problem_text import problems_text
from gpupanel.runs.tools.export.export_format import ModelExportFormat
from gpupanel.runs.tools.export.model_export import SCRIPT
from gpupanel.ui.theme import GRID
from gpupanel.ui.tools.tool_dialog import ToolDialog
from gpupanel.ui.widgets.command_line import CommandLine
from gpupanel.ui.widgets.labels import ProseLabel
from gpupanel.ui.widgets.problem_row import ProblemRow
from gpupanel.ui.widgets.screen_fit import resize_within_screen
from gpupanel.ui.widgets.tips import wrapped

_DOING = (
    "Written by a process of its own, then loaded again and compared with the model on examples of "
    "the run's data. This takes some seconds, of a large model some minutes."
)
_EMPTY = "How large the export is, how fast, and how far its outputs are from the model's."


class ModelExportDialog(ToolDialog[ModelExport, object]):
    """Says what was written and how it compares with the model, or why it was not."""

    folderRequested = Signal(object)
    """The folder with what was written is to be opened: its :class:`Path`."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("model_export", "Export model", parent)
        self._export: ModelExport | None = None
        self._wanted = ModelExportFormat.KERAS
        self._run, self._output = "", Path()
        self._add_cancel("S&top", "Ends the export and removes what it has written.")
        tip = "Opens the folder with the exported model in the file manager."
        self._folder = self._add_button("Open fol&der", "folder", wrapped(tip))
        self._folder.clicked.connect(self._open_folder)
        self._show_empty(_EMPTY)
        self._show_state()
        resize_within_screen(self, 80 * GRID, 50 * GRID)

    def begin(self, run: str, wanted: ModelExportFormat, output: Path) -> None:
        """Say that this is being exported.

        Args:
            run: Its name.
            wanted: As what.
            output: Where it will stand.
        """
        self._run, self._wanted, self._output = run, wanted, output
        self._export = None
        self._show_empty(_EMPTY)
        self._show_state()

    @Slot(object)
    @override
    def setAnswer(self, found: ModelExport) -> None:
        self._export = found
        rows: list[QWidget] = [ProblemRow(problem) for problem in found.problems]
        if found.is_written:
            for words in self._beside():
                label = ProseLabel()
                label.setProse(words)
                rows.append(label)
            rows.append(CommandLine(self._command()))
        self._show_page(*rows)
        self._show_state()

    @override
    def text(self) -> str:
        found = self._export
        if found is None:
            return ""
        parts = [problems_text(found.problems)] if found.problems else []
        if found.is_written:
            parts = [f"{self._wanted.title} of {self._run}", export_sentence(found), *parts]
            parts += [*self._beside(), self._command()]
        return "\n".join(parts)

    def _beside(self) -> tuple[str, ...]:
        """What was written, a sentence each, but for how to run it."""
        is_folder = not self._wanted.suffix
        description = "model.json" if is_folder else f"{self._output.name}.json"
        where = "In it" if is_folder else "Beside it"
        says = "says what the model takes and gives, such as the names and the order of classes"
        return (
            f"The model: {self._output}",
            f"{where}: {description} {says}.",
            f"{where}: predict.py runs it on images, tables, texts or arrays, without gpupanel.",
        )

    def _command(self) -> str:
        """How the script is run."""
        folder = self._output.parent if self._wanted.suffix else self._output
        model = f" --model {quote(str(self._output))}" if self._wanted.suffix else ""
        return f"python {quote(str(folder / SCRIPT))}{model} FILE"

    @override
    def _show_state(self) -> None:
        found = self._export
        self._progress.setVisible(self._is_busy)
        self._cancel.setEnabled(self._is_busy)
        is_written = found is not None and found.is_written
        self._copy.setEnabled(found is not None)
        self._folder.setEnabled(is_written)
        self._icon.setVisible(found is not None)
        self._icon.setSeverity(None if is_written else Severity.ERROR)
        if self._is_busy:
            self._title.setText(f"Exporting {self._wanted.title}…")
            self._sentence.setProse(_DOING)
        elif found is None:
            self._title.setText("Not exported")
            self._sentence.setProse("The export was stopped; nothing was written.")
        elif is_written:
            self._title.setText(f"{self._wanted.title} exported")
            self._sentence.setProse(export_sentence(found))
        else:
            self._title.setText("The model was not exported")
            self._sentence.setProse("")

    @Slot()
    def _open_folder(self) -> None:
        is_folder = not self._wanted.suffix
        self.folderRequested.emit(self._output if is_folder else self._output.parent)
