"""Shows a run in Live, whoever asks for it."""

from pathlib import Path

from PySide6.QtCore import QObject, Slot

from gpupanel.domain.run_layout import RunLayout
from gpupanel.ui.main_tabs import MainTabs
from gpupanel.ui.run_control import RunControl


class OpenedRuns(QObject):
    """Goes to the page with the run.

    Args:
        control: Follows it.
        tabs: The pages.
        parent: The window.
    """

    def __init__(self, control: RunControl, tabs: MainTabs, parent: QObject) -> None:
        super().__init__(parent)
        self._control, self._tabs = control, tabs

    @Slot(object)
    def open(self, path: Path) -> None:
        """Show the run in that directory."""
        self._control.open(RunLayout(path.absolute()))
        self._tabs.show_live()

    @Slot(object)
    def follow(self, path: Path) -> None:
        """Follow the run in that directory, which goes on, unless one is shown already."""
        if self._control.shown is None:
            self._control.follow(RunLayout(path))
            self._tabs.show_live()
