"""What the window does about driver and TensorFlow besides training."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtWidgets import QApplication, QWidget

from gpupanel.domain.device import DeviceInventory
from gpupanel.domain.telemetry import TelemetrySample
from gpupanel.planning.chosen_devices import awake_gpus
from gpupanel.ui.session import Session
from gpupanel.ui.workers.device_worker import DeviceWatch
from gpupanel.ui.workers.doctor_worker import DoctorExaminer
from gpupanel.ui.workers.gpu_support_worker import GpuSupportLoader

if TYPE_CHECKING:
    from gpupanel.domain.problem import Problem
    from gpupanel.ui.dialogs.doctor_dialog import DoctorDialog


class DoctorBinding(QObject):
    """Reports to the session which GPUs TensorFlow can use, and opens the doctor.

    Args:
        window: What the doctor's dialog stands before.
    """

    refused = Signal(object)
    """Problems because of which something could not be asked: a tuple of :class:`Problem`."""

    selfTestRequested = Signal()
    """A person wants the devices to be tested."""

    def __init__(self, session: Session, watch: DeviceWatch, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._support_loader = GpuSupportLoader(parent=self)
        self._examiner = DoctorExaminer(parent=self)
        self._dialog: DoctorDialog | None = None
        self._inventory: DeviceInventory | None = None
        self._doubts: tuple[Problem, ...] = ()
        watch.inventoryChanged.connect(self._see_inventory)
        watch.sampled.connect(self._see_sample)
        self._support_loader.answered.connect(session.set_gpu_support)
        self._support_loader.importTried.connect(session.set_import_problem)
        self._support_loader.busyChanged.connect(session.set_checking_gpus)
        self._support_loader.refused.connect(self.refused)
        self._examiner.examined.connect(self._support_loader.ask_again)
        self._examiner.refused.connect(self.refused)
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.applicationStateChanged.connect(self._check_again)

    @Slot()
    def open_doctor(self) -> None:
        """Show the doctor's dialog, and examine everything."""
        if self._dialog is None:
            self._dialog = self._new_dialog()
        self._dialog.show()
        self._dialog.activateWindow()
        self._examiner.begin()

    def stop(self) -> None:
        """Ask nobody any more; processes that were asked are ended."""
        if self._dialog is not None:
            self._dialog.close()
        self._support_loader.stop()
        self._examiner.stop()

    def _new_dialog(self) -> "DoctorDialog":
        # Here and not above: most windows never need it, and it takes a tenth of a second.
        from gpupanel.ui.dialogs.doctor_dialog import DoctorDialog

        dialog = DoctorDialog(self._window)
        dialog.examinationRequested.connect(self._examiner.begin)
        dialog.closed.connect(self._examiner.cancel)
        dialog.selfTestRequested.connect(self.selfTestRequested)
        self._examiner.busyChanged.connect(dialog.setBusy)
        self._examiner.examined.connect(dialog.setReport)
        return dialog

    @Slot(object)
    def _see_inventory(self, inventory: DeviceInventory) -> None:
        self._inventory = inventory
        self._support_loader.set_gpus(inventory.gpus, inventory.driver)
        doubts = tuple(each for each in inventory.environment_problems if not each.is_error)
        if doubts != self._doubts:
            self._doubts = doubts
            self._support_loader.try_import()

    @Slot(object)
    def _see_sample(self, sample: TelemetrySample) -> None:
        # A GPU that stopped answering would hide others from CUDA.
        inventory = self._inventory
        if inventory is not None:
            gpus = awake_gpus(inventory, sample)
            self._support_loader.set_gpus(gpus, inventory.driver)

    @Slot(Qt.ApplicationState)
    def _check_again(self, state: Qt.ApplicationState) -> None:
        """Somebody who comes back to the window may have mended the installation elsewhere."""
        if state is Qt.ApplicationState.ApplicationActive:
            self._support_loader.check_again()
