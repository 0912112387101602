"""Has devices compared when the page asks for it, shows their speeds, and uses the fastest."""

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QWidget
from typing_extensions import override

from gpupanel.domain.bench import BenchCandidate, bench_request
from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.profile import Profile
from gpupanel.runs.readiness import Machine
from gpupanel.ui.bindings.session_report_binding import SessionReportBinding
from gpupanel.ui.device_labels import DeviceLabels
from gpupanel.ui.session import Session
from gpupanel.ui.session_page import SessionPage
from gpupanel.ui.workers.bench_worker import DeviceComparer

if TYPE_CHECKING:
    from gpupanel.ui.dialogs.bench_dialog import BenchDialog


class BenchBinding(SessionReportBinding["BenchDialog", Profile]):
    """Opens the dialog with what is remembered, or has the devices compared.

    Args:
        page: Asks, and shows a setting that a problem is about.
        runs_dir: The window's folder of runs.
        window: What the dialog stands before.
    """

    def __init__(
        self, session: Session, page: SessionPage, runs_dir: Path, window: QWidget
    ) -> None:
        self.comparer = DeviceComparer()
        self._runs_dir = runs_dir
        self._recalls = False
        super().__init__(session, page, window, self.comparer)
        page.plan.estimate.comparisonRequested.connect(self.open)

    @override
    @Slot()
    def open(self) -> None:
        if self.comparer.is_busy() and self._dialog is not None:
            self._dialog.activateWindow()  # it would begin anew
            return
        self._recalls = True
        super().open()
        self._recalls = False

    @override
    def _new_dialog(self) -> "BenchDialog":
        # Here and not above: most windows never need it.
        from gpupanel.ui.dialogs.bench_dialog import BenchDialog

        dialog = BenchDialog(self._window)
        dialog.cancelRequested.connect(self.comparer.cancel)
        dialog.candidateChosen.connect(self._use)
        self.comparer.progressed.connect(dialog.setProgress)
        self.comparer.compared.connect(dialog.setBench)
        return dialog

    @override
    def _prepare(self, dialog: "BenchDialog") -> None:
        dialog.setLabels(DeviceLabels(self._session.inventory))

    @override
    def _request_of(self, profile: Profile) -> Profile:
        return bench_request(profile)

    @override
    def _begin(self, request: Profile) -> None:
        inventory = self._session.inventory or DeviceInventory(devices=())
        machine = Machine(inventory, self._session.sample)
        self.comparer.begin(self._session.profile, machine, self._runs_dir, recall=self._recalls)

    @Slot(object)
    def _use(self, candidate: BenchCandidate) -> None:
        self._session.edit(candidate.applied(self._session.profile))
