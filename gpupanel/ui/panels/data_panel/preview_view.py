"""A preview of the data: what is known of it, in words and images."""

from collections.abc import Sequence
from pathlib import PurePath

from PySide6.QtWidgets import QHBoxLayout, QWidget

from gpupanel.domain.data import Target
from gpupanel.domain.example_form import ExampleForm
from gpupanel.domain.preview import DataPreview
from gpupanel.domain.problem import Problem
from gpupanel.domain.visible_text import visible_line
from gpupanel.ui import formatting
from gpupanel.ui.panels.data_panel.columns_view import ColumnsView
from gpupanel.ui.panels.data_panel.download_row import DownloadRow
from gpupanel.ui.panels.data_panel.examples_view import ExamplesView
from gpupanel.ui.panels.data_panel.text_lengths_view import TextLengthsView
from gpupanel.ui.widgets.class_counts_view import ClassCountsView
from gpupanel.ui.widgets.labels import Caption, Note
from gpupanel.ui.widgets.layouts import column_in, discard
from gpupanel.ui.widgets.problem_row import ProblemRow
from gpupanel.ui.widgets.tool_buttons import ToolButtons
from gpupanel.ui.workers.workplace import machine_name

_MOST_COLUMNS = 5
_EMPTY = "Some examples and the number of each class appear here once the data is chosen."
_BUSY = "Reading the data…"
_PROBLEMS = "The data cannot be shown: there is a problem with it."
_DOWNLOAD = (
    "This data is not on {machine} yet. It is downloaded once, now or by the first run, and "
    "shown here then."
)
_PYTHON = (
    "This data comes from Python code, which is executed only by a run. The number of "
    "examples and classes is known then."
)


class PreviewView(QWidget):
    """States in words; examples and class counts below them."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._preview: DataPreview | None = None
        self._is_busy, self._is_chosen = False, True
        self._problems: list[ProblemRow] = []
        self._problem_place = QWidget()
        self._problem_column = column_in(self._problem_place)
        self._state = Note(_EMPTY)
        self._state.setObjectName("preview_state")
        self.download = DownloadRow()
        """Shown while the data is not on this machine."""
        self._examples = ExamplesView()
        self._augmented_caption = Caption("Augmented, as in one epoch")
        self._augmented = ExamplesView("Augmented examples of the data")
        self._class_caption = Caption("Examples per class")
        self._classes = ClassCountsView()
        self._column_caption = Caption("Columns")
        self._columns = ColumnsView()
        self._text_caption = Caption("Words per text")
        self._texts = TextLengthsView()
        self.tools = ToolButtons()
        """Of tools that read all of the data; enabled while some is chosen."""
        layout = column_in(self)
        head = QHBoxLayout()
        head.addWidget(Caption("Preview"), 1)
        head.addWidget(self.tools)
        layout.addLayout(head)
        layout.addWidget(self._state)
        layout.addWidget(self.download)
        layout.addWidget(self._problem_place)
        layout.addWidget(self._column_caption)
        layout.addWidget(self._columns)
        layout.addWidget(self._text_caption)
        layout.addWidget(self._texts)
        layout.addWidget(self._examples)
        layout.addWidget(self._class_caption)
        layout.addWidget(self._classes)
        layout.addWidget(self._augmented_caption)
        layout.addWidget(self._augmented)
        self._show()

    def setPreview(self, preview: DataPreview | None) -> None:
        """Shows another preview; ``None``: nothing is known."""
        self._preview = preview
        found = preview.problems if preview else ()
        self._show_problems([p for row in self._problems if (p := row.problem()) in found])
        self._examples.setExamples(preview.examples if preview else ())
        self._augmented.setExamples(preview.augmented if preview else ())
        self._classes.setCounts(preview.class_counts if preview else ())
        self._columns.setColumns(preview.columns if preview else ())
        length = preview.feature_shape[0] if preview and preview.feature_shape else 0
        self._texts.setTexts(preview.texts if preview else None, length)
        self._show()

    def setProblemsElsewhere(self, problems: Sequence[Problem]) -> None:
        """Shows those of the preview's problems that are none of the session's.

        Args:
            problems: Of the session: they stand beside their settings, and in the plan with fixes.
        """
        there = {(problem.code, problem.message) for problem in problems}
        found = self._preview.problems if self._preview else ()
        self._show_problems([each for each in found if (each.code, each.message) not in there])

    def setScannable(self, scannable: bool) -> None:
        """Whether there is data to be scanned: a file or folder was chosen, where it needs one."""
        self._is_chosen = scannable
        self.tools.setEnabled(scannable)
        self._show()

    def setBusy(self, busy: bool) -> None:
        """Says that the data is being read; what is known stays, greyed."""
        self._is_busy = busy
        self._show()

    def state(self) -> str:
        """The sentence that is shown."""
        return self._state.text()

    def _show(self) -> None:
        preview = self._preview
        self._state.setText(self._sentence())
        self.download.setVisible(bool(preview and preview.needs_download))
        self._examples.setVisible(bool(preview and preview.examples))
        is_augmented = bool(preview and preview.augmented)
        self._augmented_caption.setVisible(is_augmented)
        self._augmented.setVisible(is_augmented)
        counted = bool(preview and preview.class_counts)
        of_labels = bool(preview and preview.target is Target.LABELS)
        self._class_caption.setText("Examples per label" if of_labels else "Examples per class")
        has_columns = bool(preview and preview.columns)
        self._column_caption.setVisible(has_columns)
        self._columns.setVisible(has_columns)
        has_texts = bool(preview and preview.texts)
        self._text_caption.setVisible(has_texts)
        self._texts.setVisible(has_texts)
        self._class_caption.setVisible(counted)
        self._classes.setVisible(counted)
        first = (self._examples, self._classes, self._class_caption, self._problem_place)
        more = (self._columns, self._texts, self._augmented_caption, self._augmented)
        for part in (*first, *more):
            part.setEnabled(not self._is_busy)

    def _show_problems(self, problems: Sequence[Problem]) -> None:
        if [row.problem() for row in self._problems] != list(problems):
            discard(self._problem_column, self._problems)
            self._problems = [ProblemRow(problem) for problem in problems]
            for row in self._problems:
                self._problem_column.addWidget(row)
        self._problem_place.setVisible(bool(self._problems and self._is_chosen))

    def _sentence(self) -> str:
        if self._is_busy:
            return _BUSY
        if self._preview is None:
            return _EMPTY
        if self._preview.needs_download:
            return _DOWNLOAD.format(machine=machine_name())
        if self._preview.needs_start and not self._preview.problems:
            return _PYTHON
        if not self._preview.example_count:
            if not self._preview.problems:
                return "The data has no examples."
            return _PROBLEMS if self._is_chosen else _EMPTY
        return _facts(self._preview)


def _facts(preview: DataPreview) -> str:
    shape = _shape(preview.feature_shape)
    if preview.form.inputs:
        shape = ", ".join(
            f"{visible_line(name)} {_shape(each)}" for name, each in preview.form.inputs.items()
        )
    parts = [f"{formatting.count(preview.example_count)} examples of {shape}"]
    if preview.texts is not None:
        parts = [f"{formatting.count(preview.example_count)} texts of {shape} words"]
    match preview.target:
        case _ if preview.form.arrays_of is not None:
            parts.append(_predicted(preview.form))
        case Target.VALUES if preview.value_count > 1:
            parts.append(f"{formatting.count(preview.value_count)} values are predicted")
        case Target.VALUES:
            parts.append("a value is predicted")
        case Target.LABELS:
            parts.append(f"{formatting.count(len(preview.class_counts))} labels, several at once")
        case Target.CLASSES if preview.class_counts:
            parts.append(f"{formatting.count(len(preview.class_counts))} classes")
    if preview.validation_example_count:
        parts.append(f"{formatting.count(preview.validation_example_count)} validation examples")
    if preview.test_example_count:
        parts.append(f"{formatting.count(preview.test_example_count)} test examples")
    detected = _detected_sets(preview) + _detected_columns(preview) + _detected_form(preview)
    return f"{', '.join(parts)}.{detected}"


def _shape(lengths: Sequence[int]) -> str:
    return " x ".join(str(length) for length in lengths) or "one value"


def _predicted(form: ExampleForm) -> str:
    """What is to be predicted of an example, where it is no label."""
    if form.learns_inputs:
        return "each of which is predicted itself"
    if len(form.outputs) == 1:
        return f"the output {visible_line(form.outputs[0])} is predicted"
    if form.outputs:
        return f"the outputs {', '.join(map(visible_line, form.outputs))} are predicted"
    return f"arrays of {_shape(form.label_shape)} are predicted"


def _detected_form(preview: DataPreview) -> str:
    """A sentence about how a text file was found to be written, where it is one."""
    found = preview.found
    if not {"delimiter", "decimal", "encoding"} <= found.keys():
        return ""
    delimiter = "a tab" if found["delimiter"] == "\t" else f"“{found['delimiter']}”"
    return (
        f" The file is {found['encoding']} with {delimiter} between cells and "
        f"“{found['decimal']}” before decimals."
    )


def _detected_columns(preview: DataPreview) -> str:
    """A sentence about the columns of a CSV of images, where there is one."""
    file_column, labels = (preview.found.get(key) for key in ("file_column", "label_columns"))
    if not file_column or not labels or isinstance(labels, int):
        return ""
    names = [labels] if isinstance(labels, str) else labels
    shown = ", ".join(f"“{visible_line(name)}”" for name in names[:_MOST_COLUMNS])
    more = ", …" if len(names) > _MOST_COLUMNS else ""
    verb = "is" if len(names) == 1 else "are"
    return (
        f" Column “{visible_line(str(file_column))}” names the images; {shown}{more} {verb} "
        "predicted."
    )


def _detected_sets(preview: DataPreview) -> str:
    """A sentence about the folders that were found to be sets, where there are any."""
    keys = [key for key in ("path", "validation_path", "test_path") if preview.found.get(key)]
    if not keys:
        return ""
    names = [PurePath(str(preview.found[key])).name for key in keys]
    return f" Sets found in the folder: {visible_line(', '.join(names))}."
