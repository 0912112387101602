"""Binds the menus to the window: what each of their actions does, and when it can be done."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Slot
from PySide6.QtWidgets import QMainWindow, QTabWidget

from gpupanel.ui.bindings.doctor_binding import DoctorBinding
from gpupanel.ui.inputs.input import finish_editing
from gpupanel.ui.menus.menu_bar import MenuBar
from gpupanel.ui.menus.window_actions import WindowActions
from gpupanel.ui.panels.profile_bar import ProfileBar
from gpupanel.ui.run_actions import run_actions
from gpupanel.ui.run_control import RunControl
from gpupanel.ui.run_page.page import LivePage
from gpupanel.ui.run_state import RunState
from gpupanel.ui.session import Session

if TYPE_CHECKING:
    from PySide6.QtWidgets import QDialog

    from gpupanel.ui.dialogs.guide_dialog import GuideDialog

_SECTIONS = (
    ("window.md", "Preparing a session"),
    ("window.md", "Watching a run"),
    ("window.md", "Past runs"),
)
"""Of the guide, for each page of the window: page and heading."""


class MenuBinding(QObject):
    """Gives the window its menus; what the bar's buttons do, too, is bound with these.

    Args:
        actions: What stands in the menus.
        session: Knows the state of the run.
        control: Steers the run.
        bar: Has the menus of recent and example profiles.
        live: Shows a run.
        tabs: The pages.
        doctor: Examines the machine.
        window: Gets the menu bar.
    """

    def __init__(
        self,
        actions: WindowActions,
        session: Session,
        control: RunControl,
        bar: ProfileBar,
        live: LivePage,
        tabs: QTabWidget,
        doctor: DoctorBinding,
        window: QMainWindow,
    ) -> None:
        super().__init__(window)
        self._actions, self._session, self._control = actions, session, control
        self._live, self._tabs, self._window = live, tabs, window
        inner = {menu.objectName(): menu for menu in bar.menus}
        self.menu_bar = MenuBar(actions, inner)
        window.setMenuBar(self.menu_bar)
        self._guide: GuideDialog | None = None
        self._connect(doctor)
        self._show_run()
        self._show_page()

    def _connect(self, doctor: DoctorBinding) -> None:
        actions = self._actions
        actions.quit.triggered.connect(self._window.close)
        for steering, steer in (
            (actions.stop, self._control.stop),
            (actions.suspend, self._control.suspend),
        ):
            steering.triggered.connect(finish_editing)
            steering.triggered.connect(steer)
        actions.resume.triggered.connect(self._control.resume)
        actions.checkpoint.triggered.connect(self._control.save_checkpoint)
        actions.end.triggered.connect(self._control.doubt_end)
        for place, page in enumerate(actions.pages.actions()):
            page.setData(place)
        actions.pages.triggered.connect(self._go_to_page)
        actions.next_page.triggered.connect(self._go_on)
        actions.previous_page.triggered.connect(self._go_back)
        actions.reset_zoom.triggered.connect(self._live.live.plot_wall.follow)
        actions.reset_zoom.setEnabled(False)
        self._live.live.plot_wall.followingChanged.connect(actions.reset_zoom.setDisabled)
        actions.guide.triggered.connect(self._show_guide)
        actions.shortcuts.triggered.connect(self._show_shortcuts)
        actions.doctor.triggered.connect(doctor.open_doctor)
        actions.about.triggered.connect(self._show_about)
        self._tabs.currentChanged.connect(self._show_page)
        self._session.runChanged.connect(self._show_run)
        self._control.shownChanged.connect(self._show_run)
        self._control.shownStatusChanged.connect(self._show_run)
        self._control.checkpointAsked.connect(self._show_run)

    @Slot()
    def _show_run(self) -> None:
        """Enable what can be done with the run that goes on, and with the one that is shown."""
        state, status = self._session.run_state, self._session.run_status
        trains = state is RunState.RUNNING and status is not None and status.trains
        is_saving = self._control.is_saving_checkpoint
        self._actions.checkpoint.setEnabled(trains and not is_saving)
        self._actions.end.setEnabled(self._session.buttons.end_now)
        offered = run_actions(state, self._control.shown_status)
        self._actions.resume.setEnabled(offered.can_resume)
        self._actions.tensorboard.setEnabled(offered.offers_tensorboard)

    @Slot()
    def _show_page(self) -> None:
        place = self._tabs.currentIndex()
        for page in self._actions.pages.actions():
            page.setChecked(page.data() == place)

    @Slot()
    def _go_to_page(self) -> None:
        page = self._actions.pages.checkedAction()
        if page is not None:
            finish_editing()
            self._tabs.setCurrentIndex(page.data())

    @Slot()
    def _go_on(self) -> None:
        self._turn(1)

    @Slot()
    def _go_back(self) -> None:
        self._turn(-1)

    def _turn(self, pages: int) -> None:
        finish_editing()
        self._tabs.setCurrentIndex((self._tabs.currentIndex() + pages) % self._tabs.count())

    def stop(self) -> None:
        """Close the guide, which stands beside the window."""
        if self._guide is not None:
            self._guide.close()

    # Dialogs are imported when they are asked for: most windows never need them.

    @Slot()
    def _show_guide(self) -> None:
        from gpupanel.ui.dialogs.guide_dialog import GuideDialog

        if self._guide is None:
            self._guide = GuideDialog(self._window)
        if not self._guide.isVisible():
            self._guide.show_section(*_SECTIONS[self._tabs.currentIndex()])
        self._guide.show()
        self._guide.activateWindow()

    @Slot()
    def _show_shortcuts(self) -> None:
        from gpupanel.ui.dialogs.shortcuts_dialog import ShortcutsDialog

        self._open(ShortcutsDialog(self.menu_bar, self._window))

    @Slot()
    def _show_about(self) -> None:
        from gpupanel.ui.dialogs.about_dialog import AboutDialog

        self._open(AboutDialog(self._session.inventory, self._window))

    def _open(self, dialog: "QDialog") -> None:
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()
