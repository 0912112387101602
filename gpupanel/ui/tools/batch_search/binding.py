"""Has batches tried when the page asks for it, and shows which fit."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QWidget
from typing_extensions import override

from gpupanel.domain.batch_fit import BatchFit, batch_fit_request
from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.profile import Profile
from gpupanel.runs.readiness import Machine
from gpupanel.ui.session import Session
from gpupanel.ui.session_page import SessionPage
from gpupanel.ui.tools.session_report_binding import SessionReportBinding
from gpupanel.ui.workers.tool_worker import Ask, ToolWorker
from gpupanel.ui.workers.workplace import workplace

if TYPE_CHECKING:
    from gpupanel.ui.tools.batch_search.dialog import BatchFitDialog


class BatchFitBinding(SessionReportBinding["BatchFitDialog", Profile]):
    """Opens the dialog, has batches tried, and takes over the one that is chosen.

    Args:
        page: Asks, and shows a setting that a problem is about.
        window: What the dialog stands before.
        find: Tries them; in processes when left out.
    """

    def __init__(
        self,
        session: Session,
        page: SessionPage,
        window: QWidget,
        find: Callable[..., BatchFit] | None = None,
    ) -> None:
        self._find = find or workplace().tools.find_batches
        worker = ToolWorker("trying batches", BatchFit)
        super().__init__(session, page, window, worker, page.plan.estimate.find_batch.clicked)
        worker.answered.connect(self._follow)

    @override
    def _dialog_class(self) -> "type[BatchFitDialog]":
        from gpupanel.ui.tools.batch_search.dialog import BatchFitDialog

        return BatchFitDialog

    @override
    def _connected(self, dialog: "BatchFitDialog") -> "BatchFitDialog":
        dialog.batchChosen.connect(self._page.choose_batch)
        dialog.sharesChosen.connect(self._use_shares)
        return super()._connected(dialog)

    @override
    def _request_of(self, profile: Profile) -> Profile:
        return batch_fit_request(profile)

    @override
    def _ask(self, request: Profile) -> Ask:
        inventory = self._session.inventory or DeviceInventory(devices=())
        machine = Machine(inventory, self._session.sample)
        return partial(self._find, self._session.profile, machine)

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
