"""Rows of labels and editors that stand on one grid in every panel."""

from collections.abc import Mapping
from typing import cast

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFormLayout, QLabel, QSizePolicy, QWidget

from gpupanel.domain.problem import Problem, Severity
from gpupanel.domain.setting import Setting
from gpupanel.domain.setting_keys import with_titles
from gpupanel.ui.inputs.quiet_inputs import ComboBox
from gpupanel.ui.widgets.labels import Note, Tone, set_tone
from gpupanel.ui.widgets.tips import teach, wrapped

WIDEST_INPUT = 336
"""In pixels; a number in a field across a whole screen is hard to find."""
_WIDEST_LABEL = "Accumulation steps  "
"""Every label column is as wide as this text, so that editors line up from panel to panel."""
_TO_FIRST_LINE = 7
"""Pixels from the top of an input to its text."""
_TONES = {
    Severity.ERROR: Tone.ERROR,
    Severity.WARNING: Tone.WARNING,
    Severity.HINT: Tone.MUTED,
}


class SettingsForm(QWidget):
    """Two columns: a label with its mnemonic, and the editor that it belongs to.

    Below a row whose setting has a problem stands what is wrong.
    """

    errorsChanged = Signal()
    """What is wrong with what was typed changed."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._editors: dict[str, QWidget] = {}
        self._problems: dict[str, Problem] = {}
        self._notes: dict[QWidget, Note] = {}
        self._taught: dict[QWidget, str] = {}
        self._shown: dict[QWidget, bool] = {}
        self._layout = QFormLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setHorizontalSpacing(8)
        self._layout.setVerticalSpacing(8)
        self._layout.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow)
        self._layout.setFormAlignment(Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        self._layout.setLabelAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)

    def add_row(
        self,
        label: str,
        editor: QWidget,
        tip: str,
        *,
        key: str = "",
        widest: int | None = WIDEST_INPUT,
        tall: bool = False,
    ) -> None:
        """Adds a labelled editor.

        Args:
            label: What the editor is called.
            editor: Gets the label's text as its accessible name.
            tip: One or two sentences that teach what the setting does; shown over both.
            key: The profile key that it edits, so that problems find the row.
            widest: Pixels that the editor is at most wide; ``None``: as wide as the form.
            tall: The editor has several lines: its label stands beside the first.
        """
        caption = QLabel(label, self)
        caption.setBuddy(editor)
        caption.setToolTip(wrapped(tip))
        caption.setMinimumWidth(caption.fontMetrics().horizontalAdvance(_WIDEST_LABEL))
        # As tall as its editor, so that the two stand on one line of text.
        caption.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Expanding)
        editor.setSizePolicy(QSizePolicy.Policy.Expanding, editor.sizePolicy().verticalPolicy())
        if tall:
            caption.setAlignment(Qt.AlignmentFlag.AlignTop)
            begins_with_input = isinstance(editor.focusProxy(), ComboBox)
            caption.setContentsMargins(0, _TO_FIRST_LINE if begins_with_input else 0, 0, 0)
        if widest is not None:
            editor.setMaximumWidth(widest)
        teach(editor, label.replace("&", ""), tip)
        self._layout.addRow(caption, editor)
        if key:
            self._editors[key] = editor

    def add_setting(
        self,
        setting: Setting,
        editor: QWidget,
        *,
        widest: int | None = WIDEST_INPUT,
        tall: bool = False,
    ) -> None:
        """Adds the editor of a setting, with the words that it declares; see :meth:`add_row`."""
        self.add_row(
            setting.title,
            editor,
            setting.description,
            key=setting.name,
            widest=widest,
            tall=tall,
        )

    def add_wide(self, widget: QWidget, *, key: str = "") -> None:
        """Adds a widget below the editors' column, such as a check box or a note.

        Args:
            widget: What is added.
            key: The profile key that it edits, if it does.
        """
        self._insert_wide(self._layout.rowCount(), widget)
        if key:
            self._editors[key] = widget

    def add_whole(self, widget: QWidget, *, key: str = "") -> None:
        """Adds a widget that takes both columns, such as a table of settings within this one.

        Args:
            widget: What is added.
            key: The profile key that it edits, if it does.
        """
        self._layout.addRow(widget)
        if key:
            self._editors[key] = widget

    def add_fold(self, fold: QWidget) -> None:
        """Adds the line that folds the rows below it away: it begins where their titles do.

        Args:
            fold: What is pressed.
        """
        self._layout.addRow(fold)

    def editors(self) -> Mapping[str, QWidget]:
        """What edits each setting, by its key, from top to bottom."""
        return self._editors

    def set_row_visible(self, editor: QWidget, *, visible: bool) -> None:
        """Shows or hides the row of an editor, with its label and what is wrong with it."""
        self._show_row(editor, shown=visible)
        if editor in self._notes:
            self._show_row(self._notes[editor], shown=visible and self._has_problem(editor))

    def reveal(self, key: str) -> None:
        """Unfolds the row of a setting, where a form can fold rows away."""

    def errors(self) -> Mapping[str, str]:
        """Why what was typed is no value, as a sentence, by the setting's key."""
        return {}

    def discard_errors(self) -> None:
        """Shows the values again in place of texts that are none."""

    def setProblems(self, problems: Mapping[str, Problem]) -> None:
        """Shows below each setting the problem with it; the others have none any more.

        Args:
            problems: By the setting's key; keys that have no row here are left out.
        """
        here = {key: each for key, each in problems.items() if key in self._editors}
        if here == self._problems:
            return
        appeared = here.keys() - self._problems.keys()
        self._problems = here
        for editor in self._notes:
            self._describe(editor, "")
        for key, problem in here.items():
            note = self._note(self._editors[key])
            message = with_titles(problem.message)
            note.setText(message)
            note.setToolTip(wrapped(with_titles(problem.hint)))
            set_tone(note, _TONES[problem.severity])
            self._describe(self._editors[key], message)
        for key in appeared:
            self.reveal(key)
        for editor in self._notes:
            self.set_row_visible(editor, visible=self._shown.get(editor, True))

    def _describe(self, editor: QWidget, sentence: str) -> None:
        """Describes to assistive technology what is wrong before what the setting does."""
        focused = editor.focusProxy() or editor
        taught = self._taught.setdefault(focused, focused.accessibleDescription())
        focused.setAccessibleDescription(f"{sentence} {taught}".strip())

    def _has_problem(self, editor: QWidget) -> bool:
        return any(self._editors[key] is editor for key in self._problems)

    def _note(self, editor: QWidget) -> Note:
        """What stands below the row of an editor; made when it is first needed."""
        if editor not in self._notes:
            self._notes[editor] = note = Note()
            row, _ = cast("tuple[int, object]", self._layout.getWidgetPosition(editor))
            self._insert_wide(row + 1, note)
            self._show_row(note, shown=False)
        return self._notes[editor]

    def _insert_wide(self, row: int, widget: QWidget) -> None:
        gap = QLabel(self)
        gap.setMinimumWidth(gap.fontMetrics().horizontalAdvance(_WIDEST_LABEL))
        if isinstance(widget, Note):
            # A form gives no room to what asks for none.
            widget.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self._layout.insertRow(row, gap, widget)

    def _show_row(self, widget: QWidget, *, shown: bool) -> None:
        # A form lays itself out anew each time, whether something changes or not.
        if self._shown.get(widget, True) is not shown:
            self._shown[widget] = shown
            self._layout.setRowVisible(widget, shown)
