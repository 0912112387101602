"""Notes of the desktop when a run ends or needs somebody, while another window is used."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Slot
from PySide6.QtWidgets import QApplication, QWidget

from gpupanel.domain.problem import ProblemError
from gpupanel.runs.following.status import RunStatus
from gpupanel.runs.notes.note_settings import NOTES_FILE
from gpupanel.ui.bindings.window_settings_binding import WindowSettingsBinding
from gpupanel.ui.desktop_note import DesktopNotes
from gpupanel.ui.run_control import RunControl
from gpupanel.ui.run_texts import short_run_text, status_text
from gpupanel.ui.session import Session

if TYPE_CHECKING:
    from gpupanel.domain.problem import Problem


class NoteBinding(QObject):
    """Decides when there is something to say to a person who does something else.

    Args:
        session: Knows the state of the run.
        control: Knows which run goes on, and reports its end.
        settings: Switch notes off.
        window: Comes to the front when a note is clicked.
        notes: Shows them.
    """

    def __init__(
        self,
        session: Session,
        control: RunControl,
        settings: WindowSettingsBinding,
        window: QWidget,
        notes: DesktopNotes | None = None,
    ) -> None:
        super().__init__(window)
        self._session, self._control = session, control
        self._settings, self._window = settings, window
        self.notes = notes or DesktopNotes(self)
        self._name = ""
        self._stuck: Problem | None = None
        session.runChanged.connect(self._see_run)
        control.ended.connect(self._on_ended)
        self.notes.clicked.connect(self._come_to_front)

    def stop(self) -> None:
        """Show none any more."""
        self.notes.stop()

    @Slot()
    def _see_run(self) -> None:
        if self._control.active is not None:
            self._name = self._control.active.name
        status = self._session.run_status
        before, self._stuck = self._stuck, None if status is None else status.stuck
        if self._stuck is not None and before is None:
            self._show("Run needs attention", f"{self._name}: {self._stuck.message}")

    @Slot(object)
    def _on_ended(self, status: RunStatus) -> None:
        problem = status.ending_problem
        words = status_text(status) if problem is None else problem.message
        self._show(f"Run: {short_run_text(status)}", f"{self._name}: {words}")

    def _show(self, title: str, text: str) -> None:
        if self._window.isHidden() or QApplication.activeWindow() is not None:
            return  # closed, or seen
        QApplication.alert(self._window)
        if self._settings.value.notifications and not _is_told_otherwise():
            self.notes.show(title, text)

    @Slot()
    def _come_to_front(self) -> None:
        minimized = Qt.WindowState.WindowMinimized
        self._window.setWindowState(self._window.windowState() & ~minimized)
        self._window.raise_()
        self._window.activateWindow()


def _is_told_otherwise() -> bool:
    """Whether the desktop is told of every run, with or without a window."""
    try:
        return NOTES_FILE.read().desktop
    except ProblemError:
        return False
