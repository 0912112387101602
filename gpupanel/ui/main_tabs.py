"""The three pages of the window."""

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QTabWidget, QWidget

from gpupanel.ui.widgets.tab_pages import turn_to


class MainTabs(QTabWidget):
    """What is chosen, what happens, what happened.

    Args:
        session: What is trained, on what, and what will happen.
        live: A run while it goes on, or a past one.
        runs: The runs there are.
    """

    runsShown = Signal()
    """The person sees the runs there are, and the queue."""

    def __init__(self, session: QWidget, live: QWidget, runs: QWidget) -> None:
        super().__init__()
        self.setObjectName("main_tabs")
        self.setAccessibleName("Pages")
        self.tabBar().setAccessibleName("Pages")
        self.setDocumentMode(True)
        self._session, self._live, self._runs = session, live, runs
        for page, title, tip in (
            (session, "Session", "What is trained, on what, and what will happen"),
            (live, "Live", "A run: curves, devices, evaluations, predictions, exports and log"),
            (runs, "Runs", "Past runs"),
        ):
            self.setTabToolTip(self.addTab(page, title), tip)
        self.currentChanged.connect(self._report_runs)

    @Slot()
    def show_session(self) -> None:
        """Go to what is chosen."""
        self.setCurrentWidget(self._session)

    @Slot()
    def show_live(self) -> None:
        """Go to the run that is shown."""
        turn_to(self, self._live)

    @Slot(int, int)
    def show_queue(self, waiting: int, failed: int) -> None:
        """Say beside the title of Runs how many entries wait, and how many failed unseen."""
        if failed and self.currentWidget() is self._runs:
            self.runsShown.emit()
            return
        self.setTabText(self.indexOf(self._runs), _runs_title(waiting, failed))

    def stop(self) -> None:
        """Report nothing any more: a window that is deleted takes its pages out one by one."""
        self.blockSignals(True)

    @Slot()
    def _report_runs(self) -> None:
        if self.currentWidget() is self._runs:
            self.runsShown.emit()


def _runs_title(waiting: int, failed: int) -> str:
    """The title of the Runs tab.

    Args:
        waiting: Entries of the queue.
        failed: Of it, since somebody looked.
    """
    counts = [f"{waiting} queued" if waiting else "", f"{failed} failed" if failed else ""]
    words = ", ".join(filter(None, counts))
    return f"Runs ({words})" if words else "Runs"
