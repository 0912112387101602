"""Settings of notes: read when their page is shown, kept as they are changed, and tried."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QWidget

from gpupanel.domain.notes import NoteSettings
from gpupanel.runs.notes.note_settings import NOTES_FILE
from gpupanel.ui.bindings.kept_settings import KeptSettings
from gpupanel.ui.workers.facade import WorkerFacade

if TYPE_CHECKING:
    from gpupanel.runs.notes.trial import TriedWay
    from gpupanel.ui.dialogs.notes_page import NotesPage


class NotesSettingsBinding(QObject):
    """Has the page of a dialog work.

    Args:
        window: Owns the binding.
    """

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._page: NotesPage | None = None
        self._kept = KeptSettings(NOTES_FILE, self)
        self._worker = WorkerFacade("notes", self)
        self.refused = self._worker.refused
        """Why a test was not even begun: a tuple of :class:`Problem`."""

    def stop(self) -> None:
        """Keep what was changed, and end a test that goes on."""
        self._kept.keep()
        self._worker.drop()
        self._worker.stop()

    def show_in(self, page: "NotesPage") -> None:
        """Show the settings there, and do what a person does there, as long as it is open."""
        self._page = page
        page.destroyed.connect(self._forget)
        page.testRequested.connect(self._test)
        self._kept.show_in(page)

    @Slot()
    def _forget(self) -> None:
        self._page = None
        self._worker.drop()

    @Slot(object)
    def _test(self, value: NoteSettings) -> None:
        # Here and not above: how to speak to servers takes longer to load than a window may.
        from gpupanel.runs.notes.trial import try_ways

        self._worker.submit(lambda: tuple(try_ways(value)), self._show_tried)

    def _show_tried(self, tried: "tuple[TriedWay, ...]") -> None:
        if self._page is not None:
            self._page.setTried(tried)
