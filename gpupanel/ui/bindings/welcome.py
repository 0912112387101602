"""The first start: shows ways to begin, and never again."""

from PySide6.QtCore import QObject, Slot

from gpupanel.ui.panels.welcome_panel import WelcomePanel
from gpupanel.ui.profile_actions import ProfileActions
from gpupanel.ui.run_control import RunControl
from gpupanel.ui.session import Session
from gpupanel.ui.session_page import SessionPage
from gpupanel.ui.widgets.layouts import leave_focus

_IMAGES, _TABLE = "images", "table"


class Welcome(QObject):
    """Stands in place of the settings until a person chose, or began by another way.

    Args:
        session: Has the example.
        control: Starts it.
        profiles: Opens a profile.
        page: Where it is shown.
        parent: The window.
    """

    def __init__(
        self,
        session: Session,
        control: RunControl,
        profiles: ProfileActions,
        page: SessionPage,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._session, self._control, self._profiles, self._page = session, control, profiles, page
        self._panel = WelcomePanel()
        page.show_instead(self._panel)
        self._panel.exampleRequested.connect(self._train_example)
        self._panel.imagesRequested.connect(self._choose_images)
        self._panel.tableRequested.connect(self._choose_table)
        self._panel.profileRequested.connect(self._open_profile)
        self._panel.skipped.connect(self._leave)
        session.documentChanged.connect(self._on_document)
        control.shownChanged.connect(self._leave)

    @Slot()
    def _train_example(self) -> None:
        self._leave()
        self._control.start_known()

    @Slot()
    def _choose_images(self) -> None:
        self._leave()
        self._page.data.choose_kind(_IMAGES)

    @Slot()
    def _choose_table(self) -> None:
        self._leave()
        self._page.data.choose_kind(_TABLE)

    @Slot()
    def _open_profile(self) -> None:
        self._profiles.open()

    @Slot()
    def _on_document(self) -> None:
        """A profile was opened or changed; the example that a first window begins with is none."""
        if self._session.path is not None or self._session.is_dirty:
            self._leave()

    @Slot()
    def _leave(self) -> None:
        leave_focus(self._panel)
        self._page.show_sections()
        self._panel.deleteLater()
        self._session.documentChanged.disconnect(self._on_document)
        self._control.shownChanged.disconnect(self._leave)
        self._panel.skipped.disconnect(self._leave)
        self.deleteLater()
