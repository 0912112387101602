"""Settings of notes: read when their page is shown, kept as they are changed, and tried."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Slot
from PySide6.QtWidgets import QWidget

from gpupanel.domain.notes import NoteSettings
from gpupanel.domain.problem import ProblemError
from gpupanel.runs.notes.note_settings import read_note_settings, write_note_settings
from gpupanel.ui.workers.facade import WorkerFacade

if TYPE_CHECKING:
    from gpupanel.runs.notes.trial import TriedWay
    from gpupanel.ui.dialogs.notes_page import NotesPage

_KEPT_AFTER_MS = 400
"""Each letter of an address would be written to the disk."""


class NotesSettingsBinding(QObject):
    """Has the page of a dialog work.

    Args:
        window: Owns the binding.
    """

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._page: NotesPage | None = None
        self._worker = WorkerFacade("notes", self)
        self.refused = self._worker.refused
        """Why a test was not even begun: a tuple of :class:`Problem`."""
        self._changed: NoteSettings | None = None
        self._keeping = QTimer(self, singleShot=True, interval=_KEPT_AFTER_MS)
        self._keeping.timeout.connect(self._keep)

    def stop(self) -> None:
        """Keep what was changed, and end a test that goes on."""
        self._keep()
        self._worker.drop()
        self._worker.stop()

    def show_in(self, page: "NotesPage") -> None:
        """Show the settings there, and do what a person does there, as long as it is open."""
        self._page = page
        page.destroyed.connect(self._forget)
        page.valueChanged.connect(self._keep_soon)
        page.testRequested.connect(self._test)
        try:
            page.setValue(read_note_settings())
        except ProblemError as error:
            page.setUnusable(error.problems)

    @Slot()
    def _forget(self) -> None:
        self._page = None
        self._worker.drop()
        self._keep()

    @Slot(object)
    def _keep_soon(self, value: NoteSettings) -> None:
        self._changed = value
        self._keeping.start()

    @Slot()
    def _keep(self) -> None:
        self._keeping.stop()
        value, self._changed = self._changed, None
        if value is None:
            return
        try:
            write_note_settings(value)
        except ProblemError as error:
            if self._page is not None:
                self._page.setUnusable(error.problems)

    @Slot(object)
    def _test(self, value: NoteSettings) -> None:
        # Here and not above: how to speak to servers takes longer to load than a window may.
        from gpupanel.runs.notes.trial import try_ways

        self._worker.submit(lambda: tuple(try_ways(value)), self._show_tried)

    def _show_tried(self, tried: "tuple[TriedWay, ...]") -> None:
        if self._page is not None:
            self._page.setTried(tried)
