"""Closing the window: asked first, then hidden at once, and remembered where it was."""

from collections.abc import Callable, Sequence

from PySide6.QtCore import QByteArray, QObject, QSettings, Signal
from PySide6.QtWidgets import QApplication, QMainWindow

from gpupanel.ui.closing import hide_and_end
from gpupanel.ui.inputs.input import finish_editing
from gpupanel.ui.profile_actions import ProfileActions
from gpupanel.ui.questions import ClosingChoice, Questions
from gpupanel.ui.run_control import RunControl
from gpupanel.ui.run_state import RunState
from gpupanel.ui.session import Session

_GEOMETRY_KEY = "window/geometry"
KEEPS_RUNNING_KEY = "closing/keeps_running"
"""Set where a person never wants to be asked about a run that goes on."""
_GOES_ON = (RunState.LAUNCHING, RunState.STARTING, RunState.RUNNING)


class WindowClosing(QObject):
    """Closes a window once, if nothing is lost by that.

    Args:
        window: Owns it.
        session: Knows whether a run goes on.
        control: Stops or suspends the run; may have a request for one that is being started.
        profiles: Asks before changes are lost.
        questions: Asks whether a run is to go on without the window.
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
        self._control = control
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
        may_go = self._is_hurried or (self._profiles.may_lose_changes() and self._may_leave_run())
        # While that was asked the system may have wanted the end.
        if not (may_go or self._is_hurried):
            return False
        self._is_closed = True
        self._settings.setValue(_GEOMETRY_KEY, self._window.saveGeometry())
        hide_and_end(self._window, self._control.pass_on_request, self._stops)
        self._settings.sync()
        self.closed.emit()
        return True

    def _may_leave_run(self) -> bool:
        """Whether no run goes on, or the person said what is to become of it."""
        if self._session.run_state not in _GOES_ON or self._settings.value(KEEPS_RUNNING_KEY):
            return True
        layout = self._control.active
        name = self._session.profile.name if layout is None else layout.name
        answer = self._questions.about_closing(name, can_suspend=self._session.buttons.suspend)
        if answer.remembers:
            self._settings.setValue(KEEPS_RUNNING_KEY, 1)
        if layout == self._control.active:
            # Another one may have begun while that was asked: it was not meant.
            if answer.choice is ClosingChoice.SUSPEND:
                self._control.suspend()
            elif answer.choice is ClosingChoice.STOP:
                self._control.stop()
        return answer.choice is not ClosingChoice.CANCEL

    def close_unasked(self) -> None:
        """Close all that is open, whatever is not saved: the system wants the process to end."""
        self._is_hurried = True
        for dialog in QApplication.topLevelWidgets():
            if dialog.isVisible() and dialog is not self._window:
                dialog.close()
        self._window.close()
