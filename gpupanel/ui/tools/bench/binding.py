"""Has devices compared when the page asks for it, shows their speeds, and uses the fastest."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QWidget
from typing_extensions import override

from gpupanel.domain.bench import Bench, BenchCandidate, bench_request
from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.profile import Profile
from gpupanel.runs.readiness import Machine
from gpupanel.ui.session import Session
from gpupanel.ui.session_page import SessionPage
from gpupanel.ui.tools.session_report_binding import SessionReportBinding
from gpupanel.ui.workers.tool_worker import Ask, ToolWorker
from gpupanel.ui.workers.workplace import workplace

if TYPE_CHECKING:
    from gpupanel.ui.tools.bench.dialog import BenchDialog


class BenchBinding(SessionReportBinding["BenchDialog", Profile]):
    """Opens the dialog with what is remembered, or has the devices compared.

    Args:
        page: Asks, and shows a setting that a problem is about.
        runs_dir: The window's folder of runs.
        window: What the dialog stands before.
    """

    def __init__(
        self,
        session: Session,
        page: SessionPage,
        runs_dir: Path,
        window: QWidget,
    ) -> None:
        self._runs_dir = runs_dir
        self._recalls = False
        worker = ToolWorker("comparing devices", Bench)
        super().__init__(session, page, window, worker, page.plan.estimate.compare_devices.clicked)

    @override
    @Slot()
    def open(self) -> None:
        if self.worker.is_busy() and self._dialog is not None:
            self._dialog.activateWindow()  # it would begin anew
            return
        self._recalls = True
        super().open()
        self._recalls = False

    @override
    def _dialog_class(self) -> "type[BenchDialog]":
        from gpupanel.ui.tools.bench.dialog import BenchDialog

        return BenchDialog

    @override
    def _connected(self, dialog: "BenchDialog") -> "BenchDialog":
        dialog.candidateChosen.connect(self._use)
        return super()._connected(dialog)

    @override
    def _request_of(self, profile: Profile) -> Profile:
        return bench_request(profile)

    @override
    def _ask(self, request: Profile) -> Ask:
        inventory = self._session.inventory or DeviceInventory(devices=())
        machine = Machine(inventory, self._session.sample)
        return partial(
            workplace().tools.compare_devices,
            self._session.profile,
            machine,
            self._runs_dir,
            recalls=self._recalls,
        )

    @Slot(object)
    def _use(self, candidate: BenchCandidate) -> None:
        self._session.edit(candidate.applied(self._session.profile))
