"""Begins a window that was asked for nothing with a profile that suits the machine."""

from PySide6.QtCore import QObject, Slot

from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.profile import Profile
from gpupanel.planning.starting_profile import starting_profile
from gpupanel.ui.run_state import RunState
from gpupanel.ui.session import Session


class StartingSession(QObject):
    """Waits for the devices; a person who was quicker, or a run that goes on, wins."""

    def __init__(self, session: Session, parent: QObject) -> None:
        super().__init__(parent)
        self._session = session
        session.inventoryChanged.connect(self._begin)

    @Slot(object)
    def _begin(self, inventory: DeviceInventory) -> None:
        session = self._session
        session.inventoryChanged.disconnect(self._begin)
        is_untouched = session.profile == Profile() and session.path is None
        if is_untouched and session.run_state is RunState.IDLE:
            session.open_profile(starting_profile(inventory), None)
