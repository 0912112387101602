"""A file of settings and the page of a dialog that shows it: read, and kept as it is changed."""

from collections.abc import Sequence
from typing import Any, Protocol

from PySide6.QtCore import QObject, QTimer, Signal, SignalInstance, Slot

from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.value import Value
from gpupanel.runs.directory.settings_file import SettingsFile

_KEPT_AFTER_MS = 400
"""Each letter of an address would be written to the disk."""


class SettingsPage(Protocol):
    """A page that edits one value of settings."""

    destroyed: SignalInstance
    valueChanged: SignalInstance

    def setValue(self, value: Any) -> None:  # noqa: ANN401 - of the page's type
        """Show other settings silently."""

    def setUnusable(self, problems: Sequence[Problem]) -> None:
        """Show why the settings could not be read or kept; none: they were."""


class KeptSettings(QObject):
    """Keeps the settings of one file.

    Args:
        file: It.
        parent: Owns this.
    """

    changed = Signal(object)
    """They were read, or kept: the settings."""
    unreadable = Signal(object)
    """They could not be read: a tuple of :class:`Problem`."""

    def __init__(self, file: SettingsFile[Any], parent: QObject) -> None:
        super().__init__(parent)
        self._file = file
        self._page: SettingsPage | None = None
        self._changed: Value | None = None
        self._keeping = QTimer(self, singleShot=True, interval=_KEPT_AFTER_MS)
        self._keeping.timeout.connect(self.keep)

    @property
    def page(self) -> SettingsPage | None:
        """The page that shows them; ``None``: none is open."""
        return self._page

    def show_in(self, page: SettingsPage) -> None:
        """Show the settings there, and keep what a person changes there, as long as it is open."""
        self._page = page
        page.destroyed.connect(self._forget)
        page.valueChanged.connect(self._keep_soon)
        self.read()

    @Slot()
    def read(self) -> None:
        """Read them, also after another window or a person has changed the file."""
        self.keep()  # what was typed last is newer
        try:
            settings = self._file.read()
        except ProblemError as error:
            self.unreadable.emit(error.problems)
            if self._page is not None:
                self._page.setUnusable(error.problems)
            return
        self.changed.emit(settings)
        if self._page is not None:
            self._page.setValue(settings)

    @Slot()
    def keep(self) -> None:
        """Write what was changed since the last time, if anything was."""
        self._keeping.stop()
        value, self._changed = self._changed, None
        if value is None:
            return
        try:
            self._file.write(value)
        except ProblemError as error:
            if self._page is not None:
                self._page.setUnusable(error.problems)
        else:
            self.changed.emit(value)

    @Slot()
    def _forget(self) -> None:
        self._page = None
        self.keep()

    @Slot(object)
    def _keep_soon(self, value: Value) -> None:
        self._changed = value
        self._keeping.start()
