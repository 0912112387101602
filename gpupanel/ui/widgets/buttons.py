"""Buttons: an action, one that is shortened, one that keeps the focus, one that folds a part."""

from PySide6.QtCore import QEvent, QSize, Qt, Slot
from PySide6.QtGui import QAction, QHelpEvent, QPaintEvent
from PySide6.QtWidgets import (
    QApplication,
    QMenu,
    QPushButton,
    QSizePolicy,
    QStyle,
    QStyleOptionButton,
    QStyleOptionToolButton,
    QStylePainter,
    QToolButton,
    QWidget,
)
from typing_extensions import override

from gpupanel.ui.widgets.tips import show_whole


class ActionButton(QPushButton):
    """Follows its action, so that a menu and a button never say different things.

    Its object name is that of the action with ``_button`` behind it.

    Args:
        action: What a click does; one that has a menu opens it.
        parent: A button of its own window would be shown at once.
    """

    def __init__(self, action: QAction, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName(f"{action.objectName()}_button")
        self._action = action
        action.changed.connect(self._follow)
        menu = action.menu()
        if isinstance(menu, QMenu):
            self.setMenu(menu)
        else:
            self.clicked.connect(action.trigger)
        self._follow()

    @Slot()
    def _follow(self) -> None:
        self.setText(self._action.text())
        self.setToolTip(self._action.toolTip())
        self.setEnabled(self._action.isEnabled())
        self.setVisible(self._action.isVisible())


class ElidedButton(QPushButton):
    """Its label is shortened where there is no room for all of it.

    Args:
        padding: Pixels at either side of the label.
        narrowest: Pixels that it has in any case, where its label is not shorter.
        mode: Where the label is shortened.
        parent: The owner in Qt's sense.
    """

    def __init__(
        self,
        padding: int,
        narrowest: int,
        mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._padding, self._narrowest, self._mode = padding, narrowest, mode
        # A button's own policy would not let it be narrower than its label.
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    @override
    def minimumSizeHint(self) -> QSize:
        least = super().minimumSizeHint()
        return QSize(min(self._narrowest, least.width()), least.height())

    @override
    def initStyleOption(self, option: QStyleOptionButton) -> None:
        super().initStyleOption(option)
        room = self.width() - 2 * self._padding
        option.text = self.fontMetrics().elidedText(self.text(), self._mode, room)


class FocusKeepingButton(QPushButton):
    """Gets back the focus that it had when it was disabled, unless something else was given it.

    Qt hands the focus of a button that is disabled or hidden on to the next widget, where a second
    press of the key does something that nobody wanted. Here nothing has it meanwhile but the
    widget around the button.
    """

    def __init__(self, text: str, parent: QWidget) -> None:
        super().__init__(text, parent)
        self._is_awaited = False

    @override
    def setEnabled(self, arg__1: bool) -> None:
        if not arg__1:
            self._leave_focus()
        super().setEnabled(arg__1)
        self._take_focus_back()

    @override
    def setVisible(self, visible: bool) -> None:
        if not visible:
            self._leave_focus()
        super().setVisible(visible)
        self._take_focus_back()

    def _leave_focus(self) -> None:
        around = self.parentWidget()
        if around is not None and self.hasFocus():
            self._is_awaited = True
            around.setFocus()

    def _take_focus_back(self) -> None:
        if self._is_awaited and self.isEnabled() and self.isVisible():
            self._is_awaited = False
            if QApplication.focusWidget() in (None, self.parentWidget()):
                self.setFocus()


class FollowingButton(FocusKeepingButton):
    """Does what an action of the menus does, and says what it says: it keeps the focus, too.

    Its letter is left to the menu: of two widgets with one letter neither is clicked by it.

    Args:
        action: What a click does.
        name: Its object name.
        parent: A button of its own window would be shown at once.
    """

    def __init__(self, action: QAction, name: str, parent: QWidget) -> None:
        super().__init__("", parent)
        self.setObjectName(name)
        self._action = action
        action.changed.connect(self._follow)
        self.clicked.connect(action.trigger)
        self._follow()

    @Slot()
    def _follow(self) -> None:
        self.setText(self._action.text().replace("&", ""))
        self.setToolTip(self._action.toolTip())
        if self.isEnabled() is not self._action.isEnabled():
            self.setEnabled(self._action.isEnabled())


_LEAST_FOLD_WIDTH = 160
"""Pixels: a title that names many settings makes no column wider."""


class FoldButton(QToolButton):
    """Checked is unfolded; ``toggled`` follows each change.

    A long title is shortened where there is no room for it; then its tooltip begins with all of it.
    """

    def __init__(self, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.setText(title)
        self.setCheckable(True)
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.setProperty("role", "fold")
        self.setArrowType(Qt.ArrowType.RightArrow)
        self.toggled.connect(self._turn)

    @override
    def minimumSizeHint(self) -> QSize:
        whole = self.sizeHint()
        return QSize(min(_LEAST_FOLD_WIDTH, whole.width()), whole.height())

    def shownText(self) -> str:
        """What is seen of the title now."""
        missing = max(0, self.sizeHint().width() - self.width())
        metrics = self.fontMetrics()
        room = metrics.horizontalAdvance(self.text()) - missing
        return metrics.elidedText(self.text(), Qt.TextElideMode.ElideRight, room + 1)

    @override
    def event(self, e: QEvent) -> bool:
        if isinstance(e, QHelpEvent) and e.type() is QEvent.Type.ToolTip:
            return show_whole(self, e, self.text(), self.shownText())
        return super().event(e)

    @override
    def paintEvent(self, arg__1: QPaintEvent) -> None:
        option = QStyleOptionToolButton()
        self.initStyleOption(option)
        option.text = self.shownText()
        painter = QStylePainter(self)
        painter.drawComplexControl(QStyle.ComplexControl.CC_ToolButton, option)

    @Slot(bool)
    def _turn(self, unfolded: bool) -> None:
        self.setArrowType(Qt.ArrowType.DownArrow if unfolded else Qt.ArrowType.RightArrow)
