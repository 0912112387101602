"""Buttons that open tools, beside what the tools are about."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton, QWidget

from gpupanel.ui.widgets.flow_layout import FlowLayout
from gpupanel.ui.widgets.tips import wrapped


class ToolButtons(QWidget):
    """Each tool adds its own, in as many lines as they take."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._row = FlowLayout(self)
        self._last: QWidget = self

    def add(self, text: str, name: str, tip: str) -> QPushButton:
        """Another one, behind those that are there.

        Args:
            text: What stands on it.
            name: Its object name.
            tip: What the tool does.
        """
        button = QPushButton(text)
        button.setObjectName(name)
        button.setToolTip(wrapped(tip))
        self._row.addWidget(button)
        # By where it stands: the page around was made before. Qt sets no order behind a widget that
        # takes no focus.
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        QWidget.setTabOrder(self._last, button)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._last = button
        return button
