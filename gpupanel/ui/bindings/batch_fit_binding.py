"""Has batches tried when the page asks for it, and shows which fit."""

from typing import TYPE_CHECKING

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QWidget
from typing_extensions import override

from gpupanel.domain.batch_fit import BatchFit, batch_fit_request
from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.profile import Profile
from gpupanel.runs.readiness import Machine
from gpupanel.ui.bindings.session_report_binding import SessionReportBinding
from gpupanel.ui.device_labels import DeviceLabels
from gpupanel.ui.session import Session
from gpupanel.ui.session_page import SessionPage
from gpupanel.ui.workers.batch_fit_worker import BatchFinder

if TYPE_CHECKING:
    from gpupanel.ui.dialogs.batch_fit_dialog import BatchFitDialog


class BatchFitBinding(SessionReportBinding["BatchFitDialog", Profile]):
    """Opens the dialog, has batches tried, and takes over the one that is chosen.

    Args:
        page: Asks, and shows a setting that a problem is about.
        window: What the dialog stands before.
        finder: Tries them.
    """

    def __init__(
        self,
        session: Session,
        page: SessionPage,
        window: QWidget,
        finder: BatchFinder | None = None,
    ) -> None:
        self._finder = finder or BatchFinder()
        super().__init__(session, page, window, self._finder)
        page.plan.estimate.searchRequested.connect(self.open)
        self._finder.found.connect(self._follow)

    @override
    def _new_dialog(self) -> "BatchFitDialog":
        # Here and not above: most windows never need it.
        from gpupanel.ui.dialogs.batch_fit_dialog import BatchFitDialog

        dialog = BatchFitDialog(self._window)
        dialog.cancelRequested.connect(self._finder.cancel)
        dialog.batchChosen.connect(self._page.choose_batch)
        dialog.sharesChosen.connect(self._use_shares)
        self._finder.progressed.connect(dialog.setProgress)
        self._finder.found.connect(dialog.setFit)
        return dialog

    @override
    def _prepare(self, dialog: "BatchFitDialog") -> None:
        dialog.setLabels(DeviceLabels(self._session.inventory))

    @override
    def _request_of(self, profile: Profile) -> Profile:
        return batch_fit_request(profile)

    @override
    def _begin(self, request: Profile) -> None:
        inventory = self._session.inventory or DeviceInventory(devices=())
        machine = Machine(inventory, self._session.sample)
        self._finder.begin(self._session.profile, machine)

    @Slot(object)
    def _follow(self, found: BatchFit) -> None:
        """What was held has corrected the estimate."""
        if any(device.ratio is not None for device in found.devices):
            self._page.plan.estimate.requested.emit()

    @Slot(object)
    def _use_shares(self, shares: tuple[int, ...]) -> None:
        profile = self._session.profile
        parts = {
            "training": profile.training.model_copy(update={"global_batch_size": sum(shares)}),
            "strategy": profile.strategy.model_copy(update={"shares": shares}),
        }
        self._session.edit(profile.model_copy(update=parts))
