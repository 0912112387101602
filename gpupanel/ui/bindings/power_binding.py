"""Shows and sets the power limit of a GPU, and says what limits cost by runs of this machine."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Slot
from PySide6.QtWidgets import QWidget

from gpupanel.domain.device import PhysicalDevice
from gpupanel.domain.power import limited_gpus
from gpupanel.domain.problem import Problem
from gpupanel.ui.panels.device_panel import DevicePanel
from gpupanel.ui.session import Session
from gpupanel.ui.workers.facade import WorkerFacade
from gpupanel.ui.workers.workplace import workplace

if TYPE_CHECKING:
    from gpupanel.ui.dialogs.power_dialog import PowerDialog


class PowerBinding(QObject):
    """Has the dialog of a GPU's power limit work.

    Args:
        session: Knows what the GPUs reported last.
        panel: Asks for the dialog.
        runs_dir: The folder of runs.
        window: Stands before the dialog.
    """

    def __init__(
        self, session: Session, panel: DevicePanel, runs_dir: Path, window: QWidget
    ) -> None:
        super().__init__(window)
        self._session, self._runs_dir, self._window = session, runs_dir, window
        self._dialog: PowerDialog | None = None
        self._worker = WorkerFacade("power limits", self)
        self.refused = self._worker.refused
        """Why something was not done that no dialog says: a tuple of :class:`Problem`."""
        panel.powerRequested.connect(self.open)

    def stop(self) -> None:
        """Ask and set nothing any more."""
        self._worker.drop()
        self._worker.stop()

    @Slot(object)
    def open(self, device: PhysicalDevice) -> None:
        """Show the limit of a GPU that has one."""
        # Here and not above: most windows never need it.
        from gpupanel.ui.dialogs.power_dialog import PowerDialog

        limited = limited_gpus((device,), self._session.sample)
        if not limited:
            return
        self._dialog = dialog = PowerDialog(device, limited[0], self._window)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.destroyed.connect(self._forget)
        dialog.limitRequested.connect(self._set)
        self._worker.submit(partial(_cost, device.key, self._runs_dir), self._show_cost)
        dialog.open()

    @Slot()
    def _forget(self) -> None:
        self._dialog = None
        self._worker.drop()

    @Slot(object, int)
    def _set(self, device: PhysicalDevice, limit_w: int) -> None:
        done = partial(self._show_done, limit_w)
        limit = partial(workplace().tools.set_power_limit, device, float(limit_w))
        self._worker.submit(limit, done, self._show_refused)

    def _show_cost(self, sentence: str) -> None:
        if self._dialog is not None:
            self._dialog.setCost(sentence)

    def _show_done(self, limit_w: int, _: object) -> None:
        if self._dialog is not None:
            self._dialog.setDone(limit_w)

    def _show_refused(self, problems: tuple[Problem, ...]) -> None:
        if self._dialog is not None:
            self._dialog.setRefused(problems)


def _cost(key: str, runs_dir: Path) -> str:
    from gpupanel.runs.history.limit_speeds import limit_sentence, limit_speeds
    from gpupanel.runs.history.summaries import list_runs

    return limit_sentence(limit_speeds(key, list_runs(runs_dir)))
