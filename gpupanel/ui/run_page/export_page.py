"""What the run that is shown can be written as, and opened with: a button and a sentence each."""

from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QGridLayout, QPushButton, QRadioButton, QWidget

from gpupanel.domain.best_epoch import Keep
from gpupanel.runs.tools.export.export_format import ExportFormat, ModelExportFormat
from gpupanel.ui.run_actions import RunActions
from gpupanel.ui.theme import GRID
from gpupanel.ui.widgets.labels import Caption, Note
from gpupanel.ui.widgets.layouts import column_in, row_in
from gpupanel.ui.widgets.page_scroll import PageScroll
from gpupanel.ui.widgets.tips import wrapped

_FOLDER = "The run's folder: profile, plan, events, log, checkpoints and the model"
_BOARD = (
    "The curves in the browser. TensorBoard answers on this machine only, to whoever is logged in "
    "there, and ends with this window."
)
_NO_CURVES = "The run made no steps: TensorBoard has nothing to show."
_NO_MODEL = "This run has saved no model yet."
_WEIGHTS_TIP = (
    "The run's model has the weights of one epoch; those of the other, the best or the last one, "
    "stand beside it."
)
_BUTTON_WIDTH = 168
"""Pixels: as wide as the widest title, so that the sentences stand below each other."""


class ExportPage(PageScroll):
    """Reports and scripts of the run, its model for other programs, its folder, TensorBoard."""

    chosen = Signal(object)
    """The run is to be written as this :class:`ExportFormat` or :class:`ModelExportFormat`."""
    otherChosen = Signal(object)
    """The weights that its model does not have are to be, as this :class:`ModelExportFormat`."""
    folderRequested = Signal()
    """The run's folder is to be opened in the file manager."""
    tensorboardRequested = Signal()
    """TensorBoard is to show the run."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Export", parent)
        self.setObjectName("export_page")
        self._models: list[QPushButton] = []
        self._of_training: list[QWidget] = []
        self._kept, self._other = QRadioButton(), QRadioButton("The last")
        self._weights = self._make_weights()
        self._no_model = Note(_NO_MODEL)
        self._board = self._make_button("TensorBoard…", "tensorboard_button")
        self._board.clicked.connect(self.tensorboardRequested)
        self._folder = self._make_button("Open folder", "open_folder_button")
        self._folder.setToolTip(wrapped(_FOLDER))
        self._folder.clicked.connect(self.folderRequested)
        self._folder_row = QWidget()
        self._compose()
        self.setActions(RunActions())

    def setActions(self, actions: RunActions) -> None:
        """Offer what can be done with the run that is shown."""
        self._board.setEnabled(actions.offers_tensorboard)
        self._board.setToolTip(wrapped(_BOARD if actions.offers_tensorboard else _NO_CURVES))
        for button in self._models:
            button.setEnabled(actions.has_model)
        self._no_model.setVisible(not actions.has_model)
        has_other = bool(actions.other_weights)
        is_last = actions.other_weights == Keep.LAST.value
        self._weights.setVisible(has_other)
        self._kept.setText("Of the best epoch" if is_last else "Of the last epoch")
        self._other.setText("Of the last epoch" if is_last else "Of the best epoch")
        if not has_other:
            self._kept.setChecked(True)

    def setProgram(self, *, is_program: bool) -> None:
        """Whether a program of the person's own ran, of which there is no script and no model."""
        for part in self._of_training:
            part.setHidden(is_program)

    def setElsewhere(self) -> None:
        """The run is on another machine: its folder is no folder here."""
        self._folder_row.hide()

    def begin(self) -> None:
        """Show another run: with the weights that its model has."""
        self._kept.setChecked(True)

    def _make_weights(self) -> QWidget:
        weights = QWidget()
        weights.setObjectName("export_weights")
        row = row_in(weights, spacing=2 * GRID)
        group = QButtonGroup(weights)
        row.addWidget(Note("Weights"))
        for button, name in ((self._kept, "export_kept"), (self._other, "export_other")):
            button.setObjectName(name)
            button.setToolTip(wrapped(_WEIGHTS_TIP))
            group.addButton(button)
            row.addWidget(button)
        row.addStretch(1)
        self._kept.setChecked(True)
        return weights

    def _compose(self) -> None:
        column = column_in(self.page, spacing=GRID)
        column.setContentsMargins(0, GRID, 0, 0)
        scripts = QWidget()
        others = [wanted for wanted in ExportFormat if wanted is not ExportFormat.REPORT]
        scripts.setLayout(self._rows([self._format_row(wanted) for wanted in others]))
        column.addWidget(Caption("The run"))
        column.addLayout(self._rows([self._format_row(ExportFormat.REPORT)]))
        column.addWidget(scripts)
        column.addSpacing(GRID)
        model = QWidget()
        of_model = column_in(model, spacing=GRID)
        of_model.addWidget(Caption("Its model"))
        of_model.addWidget(self._no_model)
        of_model.addWidget(self._weights)
        models = [self._format_row(wanted) for wanted in ModelExportFormat]
        self._models = [button for button, _ in models]
        of_model.addLayout(self._rows(models))
        column.addWidget(model)
        column.addSpacing(GRID)
        column.addWidget(Caption("Open it"))
        board = QWidget()
        board.setLayout(self._rows([(self._board, _BOARD)]))
        column.addWidget(board)
        self._folder_row.setLayout(self._rows([(self._folder, _FOLDER)]))
        column.addWidget(self._folder_row)
        self._of_training = [scripts, model, board]
        column.addStretch(1)

    def _format_row(self, wanted: ExportFormat | ModelExportFormat) -> tuple[QPushButton, str]:
        button = self._make_button(f"{wanted.title}…", f"export_{wanted.value}")
        button.setToolTip(wrapped(wanted.description))
        button.clicked.connect(partial(self._choose, wanted))
        return button, wanted.description

    def _rows(self, rows: list[tuple[QPushButton, str]]) -> QGridLayout:
        grid = QGridLayout()
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(2 * GRID)
        grid.setVerticalSpacing(GRID // 2)
        grid.setColumnStretch(1, 1)
        for place, (button, words) in enumerate(rows):
            grid.addWidget(button, place, 0)
            grid.addWidget(Note(words), place, 1, Qt.AlignmentFlag.AlignVCenter)
        return grid

    def _make_button(self, text: str, name: str) -> QPushButton:
        button = QPushButton(text, self.page)
        button.setObjectName(name)
        button.setMinimumWidth(_BUTTON_WIDTH)
        return button

    def _choose(self, wanted: ExportFormat | ModelExportFormat, _is_checked: object = None) -> None:
        if isinstance(wanted, ModelExportFormat) and self._other.isChecked():
            self.otherChosen.emit(wanted)
        else:
            self.chosen.emit(wanted)
