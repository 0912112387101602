"""Has the session's model built when the page asks for it, and shows its layers."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QWidget

from gpupanel.domain.model_summary import SummaryRequest, summary_request
from gpupanel.domain.problem import Fix
from gpupanel.domain.profile import Profile
from gpupanel.ui.session import Session
from gpupanel.ui.session_page import SessionPage
from gpupanel.ui.workers.summary_worker import ModelSummarizer

if TYPE_CHECKING:
    from gpupanel.ui.dialogs.layers_dialog import LayersDialog


class LayersBinding(QObject):
    """Opens the dialog, and has the model built as it is chosen.

    Args:
        page: Asks, and shows a setting that a problem is about.
        window: What the dialog stands before.
        summarizer: Builds the model.
    """

    refused = Signal(object)
    """Problems because of which nothing could be built: a tuple of :class:`Problem`."""

    def __init__(
        self,
        session: Session,
        page: SessionPage,
        window: QWidget,
        summarizer: ModelSummarizer | None = None,
    ) -> None:
        super().__init__(window)
        self._session, self._page, self._window = session, page, window
        self._summarizer = summarizer or ModelSummarizer(parent=self)
        self._summarizer.refused.connect(self.refused)
        self._dialog: LayersDialog | None = None
        self._shown: SummaryRequest | None = None
        page.model.layersRequested.connect(self.open_layers)
        session.profileChanged.connect(self._see_profile)

    @Slot()
    def open_layers(self) -> None:
        """Show the dialog, and build the model as it is chosen now."""
        if self._dialog is None:
            self._dialog = self._new_dialog()
        self._dialog.show()
        self._dialog.activateWindow()
        self._begin()

    def stop(self) -> None:
        """Build no more; the process that did is ended."""
        if self._dialog is not None:
            self._dialog.close()
        self._summarizer.stop()

    def _new_dialog(self) -> "LayersDialog":
        # Here and not above: most windows never need it.
        from gpupanel.ui.dialogs.layers_dialog import LayersDialog

        dialog = LayersDialog(self._window)
        dialog.buildRequested.connect(self._begin)
        dialog.closed.connect(self._summarizer.cancel)
        dialog.fixRequested.connect(self._apply)
        dialog.fieldActivated.connect(self._page.go_to_field)
        self._summarizer.busyChanged.connect(dialog.setBusy)
        self._summarizer.summarized.connect(dialog.setSummary)
        return dialog

    @Slot()
    def _begin(self) -> None:
        self._shown = summary_request(self._session.profile)
        self._summarizer.begin(self._shown)

    @Slot(object)
    def _apply(self, fix: Fix) -> None:
        self._session.apply_fix(fix)
        self._begin()

    @Slot(object)
    def _see_profile(self, profile: Profile) -> None:
        if self._dialog is not None and self._dialog.isVisible():
            self._dialog.setOutdated(summary_request(profile) != self._shown)
