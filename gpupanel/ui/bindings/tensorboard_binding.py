"""Opens TensorBoard for the run that is shown."""

from PySide6.QtCore import QObject, QUrl, Slot
from PySide6.QtGui import QDesktopServices

from gpupanel.domain.problem import Problem
from gpupanel.domain.run_layout import RunLayout
from gpupanel.ui.questions import Questions
from gpupanel.ui.run_control import RunControl
from gpupanel.ui.run_page.page import LivePage
from gpupanel.ui.workers.tensorboard_worker import TensorBoardOpener


class TensorBoardBinding(QObject):
    """Has it started, opens it in the browser, and says why it cannot be.

    Args:
        control: Knows which run is shown.
        live: Shows it.
        questions: Shows problems.
        parent: The window.
        opener: Starts it.
    """

    def __init__(
        self,
        control: RunControl,
        live: LivePage,
        questions: Questions,
        parent: QObject,
        opener: TensorBoardOpener | None = None,
    ) -> None:
        super().__init__(parent)
        self._control, self._live, self._questions = control, live, questions
        self.opener = opener or TensorBoardOpener()
        self.opener.setParent(self)
        live.exports.tensorboardRequested.connect(self.open_shown)
        self.opener.served.connect(self._on_served)
        self.opener.refused.connect(self._on_refused)

    def stop(self) -> None:
        """End every TensorBoard of this window."""
        self.opener.stop()

    @Slot()
    def open_shown(self) -> None:
        """Open it for the run that is shown."""
        if self._control.shown is not None:
            self.open(self._control.shown)

    @Slot(object)
    def open(self, layout: RunLayout) -> None:
        """Open it for that run."""
        self._live.banner.setNotice("Starting TensorBoard…")
        self.opener.open(layout)

    @Slot(str)
    def _on_served(self, address: str) -> None:
        self._live.banner.setNotice(f"TensorBoard is at {address} as long as this window is open.")
        QDesktopServices.openUrl(QUrl(address))

    @Slot(object)
    def _on_refused(self, problems: tuple[Problem, ...]) -> None:
        self._live.banner.setNotice("")
        self._questions.show_problems("TensorBoard was not opened.", problems)
