"""Has learning rates tried when the page asks for it, and shows what became of the loss."""

from functools import partial
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Slot
from typing_extensions import override

from gpupanel.domain.device import CPU_KEY
from gpupanel.domain.rate_range import RateRangeRequest, rate_range_request
from gpupanel.runs.questions.rate_range import try_learning_rates
from gpupanel.ui.tools.session_tool_binding import SessionTool, SessionToolBinding
from gpupanel.ui.workers.tool_worker import Ask

if TYPE_CHECKING:
    from gpupanel.ui.tools.session_tools.rate_range.dialog import RateRangeDialog


def _dialog() -> "type[RateRangeDialog]":
    from gpupanel.ui.tools.session_tools.rate_range.dialog import RateRangeDialog

    return RateRangeDialog


class RateRangeBinding(SessionToolBinding[RateRangeRequest]):
    """Has the rates tried on the first of the session's devices, and takes over the chosen one."""

    @override
    def _connected(self, dialog: "RateRangeDialog") -> "RateRangeDialog":
        dialog.rateChosen.connect(self._use)
        super()._connected(dialog)
        return dialog

    @override
    def _ask(self, request: RateRangeRequest) -> Ask:
        plan = self._session.preparation.plan
        # It is tried here, whatever machines the profile trains on.
        is_here = plan is not None and not plan.is_on_nodes
        device = plan.replicas[0].device_key if plan is not None and is_here else CPU_KEY
        return partial(self.worker.question, request, device)

    @Slot(float)
    def _use(self, rate: float) -> None:
        profile = self._session.profile
        training = profile.training.model_copy(update={"learning_rate": rate})
        self._session.edit(profile.model_copy(update={"training": training}))


TOOL: Final = SessionTool(
    question=try_learning_rates,
    request_of=rate_range_request,
    dialog=_dialog,
    binding=RateRangeBinding,
    rank=4,
    place=lambda page: page.training.tools,
    text="F&ind learning rate…",
    button="find_learning_rate",
    tip="Trains for some steps with a learning rate that rises, and shows where the loss falls "
    "fastest. Nothing of it is kept.",
)
