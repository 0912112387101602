"""Opens TensorBoard for the run that is shown."""

from PySide6.QtCore import QObject, QUrl, Slot
from PySide6.QtGui import QDesktopServices

from gpupanel.domain.problem import Problem
from gpupanel.domain.run_layout import RunLayout
from gpupanel.ui.live_page import LivePage
from gpupanel.ui.questions import Questions
from gpupanel.ui.workers.tensorboard_worker import TensorBoardOpener


class TensorBoardBinding(QObject):
    """Has it started, opens it in the browser, and says why it cannot be.

    Args:
        live: The run that is shown.
        questions: Shows problems.
        parent: The window.
        opener: Starts it.
    """

    def __init__(
        self,
        live: LivePage,
        questions: Questions,
        parent: QObject,
        opener: TensorBoardOpener | None = None,
    ) -> None:
        super().__init__(parent)
        self._live, self._questions = live, questions
        self.opener = opener or TensorBoardOpener()
        self.opener.setParent(self)
        live.tensorboardRequested.connect(self._open)
        self.opener.served.connect(self._on_served)
        self.opener.refused.connect(self._on_refused)

    def stop(self) -> None:
        """End every TensorBoard of this window."""
        self.opener.stop()

    @Slot(object)
    def _open(self, layout: RunLayout) -> None:
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
