"""Asks before Python code of somebody's is carried out for the first time."""

from PySide6.QtCore import QObject, Slot

from gpupanel.runs.trust.user_code import UserCode
from gpupanel.ui.questions import Questions
from gpupanel.ui.run_control import RunControl
from gpupanel.ui.workers.launch_worker import Order


class TrustConfirmation(QObject):
    """Stands between a start that was refused for want of trust and the same start again."""

    def __init__(
        self, control: RunControl, questions: Questions, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._control = control
        self._questions = questions
        control.notTrusted.connect(self._ask)

    @Slot(object, object)
    def _ask(self, order: Order, code: tuple[UserCode, ...]) -> None:
        if self._questions.about_code(code):
            self._control.start_trusted(order, code)
        else:
            self._control.give_up_start()
