"""Has the devices tested when a person asks for it, and has the session know what failed."""

from collections.abc import Callable
from functools import partial
from threading import Event
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QWidget
from typing_extensions import override

from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.profile import Profile
from gpupanel.domain.self_test import SelfTest
from gpupanel.planning.self_test import self_test_settings
from gpupanel.runs.questions.question import OnProgress
from gpupanel.runs.readiness import Machine, read_machine
from gpupanel.runs.self_test_memory import recall_self_test
from gpupanel.ui.session import Session
from gpupanel.ui.session_page import SessionPage
from gpupanel.ui.tools.session_report_binding import SessionReportBinding
from gpupanel.ui.workers.facade import WorkerFacade
from gpupanel.ui.workers.tool_worker import Ask, ToolWorker

if TYPE_CHECKING:
    from gpupanel.ui.tools.self_test.dialog import SelfTestDialog


class SelfTestBinding(SessionReportBinding["SelfTestDialog", Profile]):
    """Opens the dialog, has the devices tested, and applies what avoids a fault.

    Args:
        page: Asks, and shows a setting that a problem is about.
        window: What the dialog stands before.
        test: Tests them; in processes when left out.
        read: Reads what is free of them.
    """

    def __init__(
        self,
        session: Session,
        page: SessionPage,
        window: QWidget,
        test: Callable[..., SelfTest] | None = None,
        read: Callable[[], Machine] = read_machine,
    ) -> None:
        self._test, self._read = test or _tested, read
        self._is_again = False
        worker = ToolWorker("testing the devices", SelfTest)
        super().__init__(session, page, window, worker, page.plan.test_machine.clicked)
        self._memory = WorkerFacade("self-test memory", self)
        self._recalled_for: DeviceInventory | None = None
        session.inventoryChanged.connect(self._see_inventory)
        self._memory.refused.connect(self.refused)
        worker.answered.connect(self._follow)

    @override
    def stop(self) -> None:
        super().stop()
        self._memory.stop()

    @override
    def _dialog_class(self) -> "type[SelfTestDialog]":
        from gpupanel.ui.tools.self_test.dialog import SelfTestDialog

        return SelfTestDialog

    @override
    def _connected(self, dialog: "SelfTestDialog") -> "SelfTestDialog":
        dialog.againRequested.connect(self._make_again)
        return super()._connected(dialog)

    @override
    def _request_of(self, profile: Profile) -> Profile:
        return self_test_settings(profile)

    @override
    def _ask(self, request: Profile) -> Ask:
        profile, again, self._is_again = self._session.profile, self._is_again, False

        def ask(*, cancelled: Event, on_progress: OnProgress) -> SelfTest:
            # What is free is read now: beside a run it is less than the session remembers.
            return self._test(
                profile, self._read(), again=again, cancelled=cancelled, on_progress=on_progress
            )

        return ask

    @Slot()
    def _make_again(self) -> None:
        self._is_again = True
        self._make()

    @Slot(object)
    def _see_inventory(self, inventory: DeviceInventory) -> None:
        if inventory != self._recalled_for:
            self._recalled_for = inventory
            self._recall(inventory)

    @Slot(object)
    def _follow(self, test: SelfTest) -> None:
        """What was seen is a problem of the session, or is none any more."""
        if not test.is_remembered and self._session.inventory is not None:
            self._recall(self._session.inventory)

    def _recall(self, inventory: DeviceInventory) -> None:
        """Have the session know what is remembered of these devices; only the last is heard."""
        self._memory.drop()
        self._memory.submit(partial(recall_self_test, inventory), self._session.set_self_test)


def _tested(profile: Profile, machine: Machine, **asked: Any) -> SelfTest:  # noqa: ANN401
    # Here and not above: most windows test no devices.
    from gpupanel.runs.tools.self_test.testing import run_self_test

    return run_self_test(profile, machine, **asked)
