"""Rows of labels and editors that stand on one grid in every panel."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFormLayout, QLabel, QSizePolicy, QWidget

from gpupanel.domain.setting import Setting
from gpupanel.ui.widgets.note import Note
from gpupanel.ui.widgets.tips import teach, wrapped

WIDEST_INPUT = 320
"""In pixels; a number in a field across a whole screen is hard to find."""
_WIDEST_LABEL = "Accumulation steps  "
"""Every label column is as wide as this text, so that editors line up from panel to panel."""


class SettingsForm(QWidget):
    """Two columns: a label with its mnemonic, and the editor that it belongs to."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
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
        widest: int | None = WIDEST_INPUT,
        tall: bool = False,
    ) -> None:
        """Adds a labelled editor.

        Args:
            label: With ``&`` before the letter that reaches the editor by keyboard.
            editor: Gets the label's text as its accessible name.
            tip: One or two sentences that teach what the setting does; shown over both.
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
        if widest is not None:
            editor.setMaximumWidth(widest)
        teach(editor, label.replace("&", ""), tip)
        self._layout.addRow(caption, editor)

    def add_setting(self, setting: Setting, editor: QWidget, letter: str) -> None:
        """Adds the editor of a setting, with the words that it declares.

        Args:
            setting: Has the words.
            editor: Changes it.
            letter: Of the title, reaches the editor by keyboard.
        """
        place = setting.title.lower().index(letter)
        label = f"{setting.title[:place]}&{setting.title[place:]}"
        self.add_row(label, editor, setting.description)

    def add_wide(self, widget: QWidget) -> None:
        """Adds a widget below the editors' column, such as a check box or a note."""
        gap = QLabel(self)
        gap.setMinimumWidth(gap.fontMetrics().horizontalAdvance(_WIDEST_LABEL))
        if isinstance(widget, Note):
            # A form gives no room to what asks for none.
            widget.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self._layout.addRow(gap, widget)

    def set_row_visible(self, editor: QWidget, *, visible: bool) -> None:
        """Shows or hides the row of an editor, its label included."""
        self._layout.setRowVisible(editor, visible)
