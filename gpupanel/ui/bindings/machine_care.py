"""What the window does about driver and TensorFlow besides training: it asks, and it tells."""

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QWidget

from gpupanel.ui.session import Session
from gpupanel.ui.workers.build_worker import BuildLoader
from gpupanel.ui.workers.device_worker import DeviceWatch
from gpupanel.ui.workers.doctor_worker import DoctorVisits

if TYPE_CHECKING:
    from gpupanel.devices.doctor import DoctorReport
    from gpupanel.ui.dialogs.doctor_dialog import DoctorDialog


class MachineCare(QObject):
    """Tells the session what TensorFlow was built for, and opens the doctor.

    Args:
        window: What the doctor's dialog stands before.
    """

    refused = Signal(object)
    """Problems because of which something could not be asked: a tuple of :class:`Problem`."""

    def __init__(self, session: Session, watch: DeviceWatch, window: QWidget) -> None:
        super().__init__(window)
        self._session = session
        self._window = window
        self._build_loader = BuildLoader(parent=self)
        self._visits = DoctorVisits(parent=self)
        self._dialog: DoctorDialog | None = None
        watch.inventoryChanged.connect(self._build_loader.set_inventory)
        self._build_loader.known.connect(session.set_build)
        self._visits.examined.connect(self._take_report)
        self._build_loader.refused.connect(self.refused)
        self._visits.refused.connect(self.refused)

    @Slot()
    def open_doctor(self) -> None:
        """Show the doctor's dialog, and look at everything."""
        if self._dialog is None:
            self._dialog = self._new_dialog()
        self._dialog.show()
        self._dialog.activateWindow()
        self._visits.begin()

    def stop(self) -> None:
        """Ask nobody any more; processes that were asked are ended."""
        if self._dialog is not None:
            self._dialog.close()
        self._build_loader.stop()
        self._visits.stop()

    def _new_dialog(self) -> "DoctorDialog":
        # Here and not above: most windows never need it, and it takes a tenth of a second.
        from gpupanel.ui.dialogs.doctor_dialog import DoctorDialog

        dialog = DoctorDialog(self._window)
        dialog.examinationRequested.connect(self._visits.begin)
        dialog.closed.connect(self._visits.cancel)
        self._visits.busyChanged.connect(dialog.setBusy)
        self._visits.examined.connect(dialog.setReport)
        return dialog

    @Slot(object)
    def _take_report(self, report: "DoctorReport") -> None:
        build = None if report.tensorflow is None else report.tensorflow.build
        if build is not None:
            self._session.set_build(build)
