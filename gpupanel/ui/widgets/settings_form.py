"""Rows of labels and editors that stand on one grid in every panel."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFormLayout, QFrame, QLabel, QSizePolicy, QVBoxLayout, QWidget

from gpupanel.ui.widgets.tips import wrapped

_WIDEST_EDITOR = 320
"""In pixels; a number in a field across a whole screen is hard to find."""
_WIDEST_LABEL = "Accumulation steps  "
"""Every label column is as wide as this text, so that editors line up from panel to panel."""


class SettingsCard(QFrame):
    """A titled surface that holds one group of settings."""

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("card", "true")
        caption = QLabel(title.upper(), self)
        caption.setProperty("role", "section")
        caption.setAccessibleName(title)
        self.body = QVBoxLayout(self)
        """What the card holds, from top to bottom."""
        self.body.setContentsMargins(16, 12, 16, 16)
        self.body.setSpacing(8)
        self.body.addWidget(caption)
        self._editors: dict[str, QWidget] = {}

    def set_editor(self, key: str, editor: QWidget) -> None:
        """Names the editor of one profile key (``global_batch_size``)."""
        if not self._editors:
            self.setFocusProxy(editor)
        self._editors[key] = editor

    def focus_editor(self, field: str) -> QWidget:
        """Gives the focus to the editor of a dotted profile key, or to the first one.

        Returns:
            What has the focus now, so that a scroll area can bring it into view.
        """
        named = (self._editors.get(part) for part in field.split("."))
        shown = (editor for editor in named if editor is not None and editor.isVisibleTo(self))
        target = next(shown, None) or self.focusProxy() or self
        target.setFocus(Qt.FocusReason.ShortcutFocusReason)
        return target


class Caption(QLabel):
    """The title of a part inside a card."""

    def __init__(self, text: str, parent: QWidget | None = None) -> None:
        super().__init__(text, parent)
        self.setProperty("role", "title")


class Note(QLabel):
    """A quiet sentence below or beside a setting: wrapped, and copyable with the mouse."""

    def __init__(
        self, text: str = "", *, tone: str = "muted", parent: QWidget | None = None
    ) -> None:
        super().__init__(text, parent)
        self.setProperty("tone", tone)
        self.setProperty("textSize", "small")
        self.setWordWrap(True)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        # A wrapped label asks for as much width as its text; this one takes what there is.
        policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)


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
        widest: int | None = _WIDEST_EDITOR,
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


def teach(widget: QWidget, name: str, tip: str) -> None:
    """Gives a control its tooltip, and the same words to assistive technology."""
    widget.setToolTip(wrapped(tip))
    widget.setAccessibleName(name)
    widget.setAccessibleDescription(tip)


def column(parent: QWidget, *, spacing: int = 8) -> QVBoxLayout:
    """A vertical layout without margins, on the grid of eight pixels."""
    layout = QVBoxLayout(parent)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(spacing)
    return layout
