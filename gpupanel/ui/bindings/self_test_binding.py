"""Has the devices tested when a person asks for it, and has the session know what failed."""

from typing import TYPE_CHECKING

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QWidget
from typing_extensions import override

from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.profile import Profile
from gpupanel.domain.self_test import SelfTest
from gpupanel.planning.self_test import self_test_settings
from gpupanel.ui.bindings.session_report_binding import SessionReportBinding
from gpupanel.ui.device_labels import DeviceLabels
from gpupanel.ui.session import Session
from gpupanel.ui.session_page import SessionPage
from gpupanel.ui.workers.self_test_worker import SelfTester, SelfTestMemory

if TYPE_CHECKING:
    from gpupanel.ui.dialogs.self_test_dialog import SelfTestDialog


class SelfTestBinding(SessionReportBinding["SelfTestDialog", Profile]):
    """Opens the dialog, has the devices tested, and applies what avoids a fault.

    Args:
        page: Asks, and shows a setting that a problem is about.
        window: What the dialog stands before.
        tester: Tests them.
    """

    def __init__(
        self,
        session: Session,
        page: SessionPage,
        window: QWidget,
        tester: SelfTester | None = None,
    ) -> None:
        self._tester = tester or SelfTester()
        super().__init__(session, page, window, self._tester)
        self._memory = SelfTestMemory(self)
        self._recalled_for: DeviceInventory | None = None
        page.plan.test_machine.clicked.connect(self.open)
        session.inventoryChanged.connect(self._see_inventory)
        self._memory.recalled.connect(session.set_self_test)
        self._memory.refused.connect(self.refused)
        self._tester.tested.connect(self._follow)

    @override
    def stop(self) -> None:
        super().stop()
        self._memory.stop()

    @override
    def _new_dialog(self) -> "SelfTestDialog":
        # Here and not above: most windows never need it.
        from gpupanel.ui.dialogs.self_test_dialog import SelfTestDialog

        dialog = SelfTestDialog(self._window)
        dialog.cancelRequested.connect(self._tester.cancel)
        dialog.againRequested.connect(self._make_again)
        self._tester.progressed.connect(dialog.setProgress)
        self._tester.tested.connect(dialog.setTest)
        return dialog

    @override
    def _prepare(self, dialog: "SelfTestDialog") -> None:
        dialog.setLabels(DeviceLabels(self._session.inventory))

    @override
    def _request_of(self, profile: Profile) -> Profile:
        return self_test_settings(profile)

    @override
    def _begin(self, request: Profile) -> None:
        self._test(again=False)

    @Slot()
    def _make_again(self) -> None:
        self._request = self._request_of(self._session.profile)
        self._test(again=True)

    def _test(self, *, again: bool) -> None:
        self._tester.begin(self._session.profile, again=again)

    @Slot(object)
    def _see_inventory(self, inventory: DeviceInventory) -> None:
        if inventory != self._recalled_for:
            self._recalled_for = inventory
            self._memory.recall(inventory)

    @Slot(object)
    def _follow(self, test: SelfTest) -> None:
        """What was seen is a problem of the session, or is none any more."""
        if not test.is_remembered and self._session.inventory is not None:
            self._memory.recall(self._session.inventory)
