"""The tabs in the middle of the window."""

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QTabWidget, QWidget


class MainTabs(QTabWidget):
    """What is chosen, what happens, what happened.

    Args:
        session: What is trained, on what, and what will happen.
        live: A run while it goes on, or a past one.
        runs: The runs there are.
    """

    def __init__(self, session: QWidget, live: QWidget, runs: QWidget) -> None:
        super().__init__()
        self.setObjectName("main_tabs")
        self.setDocumentMode(True)
        self._session, self._live = session, live
        for page, title, tip in (
            (session, "Session", "What is trained, on what, and what will happen"),
            (live, "Live", "Curves, devices and log of a run"),
            (runs, "Runs", "Past runs"),
        ):
            self.setTabToolTip(self.addTab(page, title), tip)

    @Slot()
    def show_session(self) -> None:
        """Go to what is chosen."""
        self.setCurrentWidget(self._session)

    @Slot()
    def show_live(self) -> None:
        """Go to the run that is shown."""
        self.setCurrentWidget(self._live)
