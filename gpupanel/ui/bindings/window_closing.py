"""Closing the window: asked first, then hidden at once, and remembered where it was."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QByteArray, QObject, QSettings, Signal
from PySide6.QtWidgets import QApplication, QMainWindow

from gpupanel.ui.closing import hide_and_end
from gpupanel.ui.inputs.input import finish_editing
from gpupanel.ui.profile_actions import ProfileActions
from gpupanel.ui.questions import Questions
from gpupanel.ui.run_control import RunControl
from gpupanel.ui.session import Session

_GEOMETRY_KEY = "window/geometry"
_SHOWN_KEY = "told/run_goes_on"


class WindowClosing(QObject):
    """Closes a window once, if nothing is lost by that.

    Args:
        window: Owns it.
        session: Knows whether a run goes on.
        control: May have a request for a run that is being started.
        profiles: Asks before changes are lost.
        questions: Says, once, that a run goes on without the window.
        settings: Where the window's place is remembered.
        stops: What ends the parts of the window one by one.
    """

    closed = Signal()
    """The window is hidden; what was ordered in it may still be at work."""

    def __init__(
        self,
        window: QMainWindow,
        session: Session,
        control: RunControl,
        profiles: ProfileActions,
        questions: Questions,
        settings: QSettings,
        stops: Sequence[Callable[[], None]],
    ) -> None:
        super().__init__(window)
        self._window, self._session, self._profiles = window, session, profiles
        self._last_order = control.pass_on_request
        self._questions, self._settings, self._stops = questions, settings, stops
        self._is_closed = self._is_hurried = False
        geometry = settings.value(_GEOMETRY_KEY)
        if isinstance(geometry, QByteArray):
            window.restoreGeometry(geometry)

    @property
    def is_closed(self) -> bool:
        """Whether the window was closed."""
        return self._is_closed

    def close(self) -> bool:
        """Close the window, unless the person wants to keep changes; says whether it is closed."""
        if self._is_closed:
            return True
        finish_editing()
        may_go = self._is_hurried or self._profiles.may_lose_changes()
        # While that was asked the system may have wanted the end.
        if not (may_go or self._is_hurried):
            return False
        self._is_closed = True
        is_told = self._is_hurried or self._settings.value(_SHOWN_KEY)
        if self._session.run_state.is_busy and not is_told:
            self._settings.setValue(_SHOWN_KEY, 1)
            self._questions.show_run_goes_on()
        self._settings.setValue(_GEOMETRY_KEY, self._window.saveGeometry())
        hide_and_end(self._window, self._last_order, self._stops)
        self._settings.sync()
        self.closed.emit()
        return True

    def close_unasked(self) -> None:
        """Close all that is open, whatever is not saved: the system wants the process to end."""
        self._is_hurried = True
        for dialog in QApplication.topLevelWidgets():
            if dialog.isVisible() and dialog is not self._window:
                dialog.close()
        self._window.close()
