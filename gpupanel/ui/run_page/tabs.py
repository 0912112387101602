"""The tabs of a run's page."""

from collections.abc import Mapping

from PySide6.QtWidgets import QTabWidget, QWidget

from gpupanel.ui.widgets.tab_pages import turn_to
from gpupanel.ui.widgets.tips import wrapped


class RunTabs(QTabWidget):
    """All about one run, a page at a time.

    Args:
        pages: Page and tooltip by the title of its tab.
    """

    def __init__(self, pages: Mapping[str, tuple[QWidget, str]]) -> None:
        super().__init__()
        self.setObjectName("run_tabs")
        self.setAccessibleName("Pages of the run")
        self.tabBar().setObjectName("run_tab_bar")
        self.tabBar().setAccessibleName("Pages of the run")
        self.setDocumentMode(True)
        self._titles: dict[QWidget, str] = {}
        for title, (page, tip) in pages.items():
            self._titles[page] = title
            self.setTabToolTip(self.addTab(page, title), wrapped(tip))

    def show_page(self, page: QWidget) -> None:
        """Go to that page."""
        turn_to(self, page)

    def set_shown(self, page: QWidget, *, shown: bool) -> None:
        """Have a tab for that page, or none."""
        self.setTabVisible(self.indexOf(page), shown)

    def set_badge(self, page: QWidget, words: str) -> None:
        """Say in the tab of a page that something there is to be read; empty: nothing is."""
        title = self._titles[page]
        self.setTabText(self.indexOf(page), f"{title} · {words}" if words else title)
