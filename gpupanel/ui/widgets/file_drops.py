"""A place onto which files and folders are dropped, and that shows so while they hover above it."""

from abc import abstractmethod
from typing import TYPE_CHECKING

from PySide6.QtGui import QDragEnterEvent, QDragLeaveEvent, QDropEvent
from typing_extensions import override

from gpupanel.ui.dropped_files import local_paths
from gpupanel.ui.workers.workplace import workplace

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    _Base = QWidget
else:
    _Base = object


class TakesFiles(_Base):
    """Stands before the class of a widget among the bases of what takes files.

    Its property ``hovered`` is "true" while what it takes is dragged over it. What is dropped is of
    this machine: where another one is worked on only that is taken which is sent there.
    """

    sends_files = False
    """Whether what is dropped goes to wherever it is needed, and not only its path."""

    @abstractmethod
    def can_take(self, paths: tuple[str, ...]) -> bool:
        """Whether these files and folders mean something here."""
        ...

    @abstractmethod
    def take(self, paths: tuple[str, ...]) -> None:
        """Do what a person means who drops these here; nothing where they mean nothing."""
        ...

    @override
    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if self._is_meant(local_paths(event.mimeData())):
            event.acceptProposedAction()
            self.show_hovered(is_hovered=True)
        else:
            event.ignore()

    @override
    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        self.show_hovered(is_hovered=False)

    @override
    def dropEvent(self, event: QDropEvent) -> None:
        self.show_hovered(is_hovered=False)
        paths = local_paths(event.mimeData())
        if self._is_meant(paths):
            event.acceptProposedAction()
            self.take(paths)
        else:
            event.ignore()

    def _is_meant(self, paths: tuple[str, ...]) -> bool:
        return (self.sends_files or not workplace().host) and self.can_take(paths)

    def show_hovered(self, *, is_hovered: bool) -> None:
        """Look as something over which files are held, or as usual."""
        self.setProperty("hovered", "true" if is_hovered else None)
        self.style().unpolish(self)
        self.style().polish(self)
