"""Undo and redo of settings, which leave a field alone that is being typed in."""

from PySide6.QtCore import QEvent, QObject, Signal, Slot
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QAbstractSpinBox, QApplication, QLineEdit, QSpinBox, QWidget
from typing_extensions import override

from gpupanel.ui.inputs.real_spin_box import RealSpinBox
from gpupanel.ui.menus.window_actions import WindowActions
from gpupanel.ui.session import Session

_ON_EVERY_PAGE = ("name", "devices", "memory")
"""Tables of a profile that are shown around the pages."""
_Key = QKeySequence.StandardKey


class UndoBinding(QObject):
    """Binds the menu to the session.

    Qt gives the keys to whatever field has the focus, even if it has nothing to undo: then the
    session gets them.

    Args:
        session: Has what can be undone.
        actions: Undo and redo.
        window: Owns it.
    """

    settingsChanged = Signal()
    """Settings were undone, or made again, that stand in the Session page."""

    def __init__(self, session: Session, actions: WindowActions, window: QWidget) -> None:
        super().__init__(window)
        self._session, self._actions = session, actions
        self._watched: QWidget | None = None
        actions.undo.triggered.connect(self._undo)
        actions.redo.triggered.connect(self._redo)
        session.documentChanged.connect(self._show)
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.focusChanged.connect(self._watch)
        self._show()

    @Slot()
    def _undo(self) -> None:
        keys = self._session.history.undoes
        self._session.undo()
        self._report(keys)

    @Slot()
    def _redo(self) -> None:
        keys = self._session.history.redoes
        self._session.redo()
        self._report(keys)

    def _report(self, keys: frozenset[str]) -> None:
        if any(key.partition(".")[0] not in _ON_EVERY_PAGE for key in keys):
            self.settingsChanged.emit()

    @Slot()
    def _show(self) -> None:
        history = self._session.history
        self._show_one(self._actions.undo, "Takes back the change of", history.undoes, "Ctrl+Z")
        again = "Makes the change again of"
        self._show_one(self._actions.redo, again, history.redoes, "Ctrl+Shift+Z")

    def _show_one(self, action: QAction, does: str, keys: frozenset[str], pressed: str) -> None:
        action.setEnabled(bool(keys))
        what = ", ".join(sorted(keys)) if len(keys) <= 2 else f"{len(keys)} settings"
        tip = f"{does} {what} ({pressed})" if keys else f"There is no change ({pressed})"
        self._actions.set_tip(action, tip)

    @Slot(QWidget, QWidget)
    def _watch(self, _before: QWidget | None, now: QWidget | None) -> None:
        """Hear only of the keys that go to a field: of all events that would cost time."""
        if self._watched is not None:
            self._watched.destroyed.disconnect(self._forget)
            self._watched.removeEventFilter(self)
        is_field = isinstance(now, QLineEdit | QAbstractSpinBox)
        self._watched = now if is_field else None
        if self._watched is not None:
            self._watched.installEventFilter(self)
            self._watched.destroyed.connect(self._forget)

    @Slot()
    def _forget(self) -> None:
        self._watched = None

    @override
    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() is QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            undoes, redoes = event.matches(_Key.Undo), event.matches(_Key.Redo)
            if (undoes or redoes) and not _is_being_edited(watched, undoes=undoes):
                event.ignore()
                return True
        return False


def _is_being_edited(field: QObject, *, undoes: bool) -> bool:
    """Whether the field has something of its own to take back."""
    if isinstance(field, QLineEdit):
        return field.isUndoAvailable() if undoes else field.isRedoAvailable()
    if isinstance(field, QSpinBox):
        return field.valueFromText(field.text()) != field.value()
    return isinstance(field, RealSpinBox) and bool(field.error())
