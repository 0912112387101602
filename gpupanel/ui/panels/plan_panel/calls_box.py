"""The exact TensorFlow calls, folded away until somebody wants them."""

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontDatabase, QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QPlainTextEdit, QPushButton, QToolButton, QWidget

from gpupanel.ui.widgets.layouts import column_in
from gpupanel.ui.widgets.tips import teach

_LINES = 16


class CallsBox(QWidget):
    """A title that folds a read-only text in and out, and a button that copies it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._fold = QToolButton()
        self._fold.setText("E&xact TensorFlow calls")
        self._fold.setCheckable(True)
        self._fold.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self._fold.setArrowType(Qt.ArrowType.RightArrow)
        self._fold.setProperty("role", "fold")
        self._copy = QPushButton("&Copy")
        self._text = QPlainTextEdit()
        self._text.setReadOnly(True)
        self._text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self._text.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self._text.setProperty("role", "code")
        self._text.hide()
        teach(
            self._fold,
            "Exact TensorFlow calls",
            "The environment and the tf.config calls that the training process makes, in "
            "this order and before anything else: they have no effect once a device is in "
            "use.",
        )
        teach(self._copy, "Copy the TensorFlow calls", "Copy the calls to the clipboard.")
        teach(self._text, "TensorFlow calls", "Python code that configures TensorFlow as planned.")
        head = QHBoxLayout()
        head.addWidget(self._fold)
        head.addStretch(1)
        head.addWidget(self._copy)
        layout = column_in(self)
        layout.addLayout(head)
        layout.addWidget(self._text)
        self._fold.toggled.connect(self._unfold)
        self._copy.clicked.connect(self.copy)

    def text(self) -> str:
        """The calls as shown."""
        return self._text.toPlainText()

    def setText(self, text: str) -> None:
        """Shows other calls; the place that is being read stays."""
        if text == self._text.toPlainText():
            return
        scrolled = self._text.verticalScrollBar().value()
        self._text.setPlainText(text)
        self._text.verticalScrollBar().setValue(scrolled)
        lines = min(_LINES, text.count("\n") + 1)
        self._text.setFixedHeight(self._text.fontMetrics().lineSpacing() * lines + 32)

    def copy(self) -> None:
        """Puts the calls on the clipboard."""
        QGuiApplication.clipboard().setText(self.text())

    def _unfold(self, unfolded: bool) -> None:
        self._fold.setArrowType(Qt.ArrowType.DownArrow if unfolded else Qt.ArrowType.RightArrow)
        self._text.setVisible(unfolded)
