"""Settings of this machine: the session plans with them, and their page shows them."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QWidget

from gpupanel.domain.machine import MachineSettings
from gpupanel.domain.problem import Problem
from gpupanel.runs.machine_settings import MACHINE_FILE
from gpupanel.ui.bindings.kept_settings import KeptSettings
from gpupanel.ui.session import Session
from gpupanel.ui.workers.workplace import workplace

if TYPE_CHECKING:
    from gpupanel.ui.dialogs.machine_page import MachinePage


class MachineSettingsBinding(QObject):
    """Has the page of a dialog work, and the session plan with what is set there.

    Args:
        session: Plans with them.
        window: Owns the binding.
    """

    def __init__(self, session: Session, window: QWidget) -> None:
        super().__init__(window)
        self._session = session
        self._kept = KeptSettings(MACHINE_FILE, self)
        self._kept.changed.connect(session.set_machine)
        self._kept.unreadable.connect(self._plan_without)
        if workplace().host:
            return  # of this machine: those of the host hold when a run is started there
        session.opened.connect(self._kept.read)
        self._kept.read()

    def stop(self) -> None:
        """Keep what was changed."""
        self._kept.keep()

    def show_in(self, page: "MachinePage") -> None:
        """Show the settings there, and keep what a person changes there."""
        self._kept.show_in(page)

    @Slot(object)
    def _plan_without(self, problems: tuple[Problem, ...]) -> None:
        self._session.set_machine(MachineSettings(), problems)
