"""Opens the sweeps of a folder of runs, and keeps what is shown up to date."""

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal, Slot
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QWidget

from gpupanel.domain.problem import Problem
from gpupanel.runs.user_sweeps import SweepsRead
from gpupanel.ui.questions import Questions
from gpupanel.ui.workers.sweep_worker import SweepReader

if TYPE_CHECKING:
    from gpupanel.ui.dialogs.sweeps_dialog import SweepsDialog

_READ_MS = 2_000


class SweepsBinding(QObject):
    """Reads while the dialog is seen, and only then.

    Args:
        action: Opens the dialog.
        new_sweep: Prepares another sweep.
        runs_dir: The folder of runs.
        questions: Shows problems once the dialog is closed.
        window: What the dialog stands before.
    """

    runOpened = Signal(object)
    """The directory of the run that is to be shown in Live: a :class:`Path`."""
    settingsRequested = Signal(object)
    """The directory of the run whose settings are to be used: a :class:`Path`."""

    def __init__(
        self,
        action: QAction,
        new_sweep: QAction,
        runs_dir: Path,
        questions: Questions,
        window: QWidget,
    ) -> None:
        super().__init__(window)
        self._new_sweep = new_sweep
        self._runs_dir, self._questions, self._window = runs_dir, questions, window
        self._dialog: SweepsDialog | None = None
        self.reader = SweepReader(runs_dir, self)
        self.reader.refused.connect(self._on_refused)
        self.reader.orderRefused.connect(self._on_order_refused)
        self._timer = QTimer(self, interval=_READ_MS)
        self._timer.timeout.connect(self._read)
        action.triggered.connect(self.open)

    def stop(self) -> None:
        """Read no more; sweeps go on."""
        self._timer.stop()
        self.reader.stop()

    @Slot()
    def open(self) -> None:
        """Show the dialog; the window stays usable behind it."""
        if self._dialog is None:
            # Here and not above: most windows never need it.
            from gpupanel.ui.dialogs.sweeps_dialog import SweepsDialog

            self._dialog = SweepsDialog(self._window)
            self._dialog.sweepChosen.connect(self.reader.read)
            self._dialog.stopRequested.connect(self.reader.stop_trials)
            self._dialog.continueRequested.connect(self.reader.resume_trials)
            self._dialog.newRequested.connect(self._new_sweep.trigger)
            self._dialog.runOpened.connect(self._open_run)
            self._dialog.settingsRequested.connect(self._use_settings)
            self._dialog.finished.connect(self._timer.stop)
            self.reader.found.connect(self._show)
        self._dialog.show()
        self._dialog.activateWindow()
        self._timer.start()
        self._read()

    @Slot(str)
    def show_sweep(self, name: str) -> None:
        """Show the dialog with the sweep in the folder of that name."""
        self.open()
        self.reader.read(name)

    @Slot()
    def _read(self) -> None:
        if self._dialog is not None and not self.reader.is_busy():
            self.reader.read(self._dialog.chosen_sweep())

    @Slot(object)
    def _show(self, read: SweepsRead) -> None:
        if self._dialog is not None:
            self._dialog.setSweeps(read)

    @Slot(object)
    def _on_refused(self, problems: tuple[Problem, ...]) -> None:
        if self._dialog is not None and self._dialog.isVisible():
            # In its place: it is read every two seconds.
            self._dialog.setProblems(problems)
        else:
            self._questions.show_problems("The sweeps cannot be read.", problems)

    @Slot(object)
    def _on_order_refused(self, problems: tuple[Problem, ...]) -> None:
        if self._dialog is not None:
            self._dialog.offerAgain()
        self._questions.show_problems("That could not be done.", problems)

    @Slot(str)
    def _open_run(self, name: str) -> None:
        self._leave()
        self.runOpened.emit(self._runs_dir / name)

    @Slot(str)
    def _use_settings(self, name: str) -> None:
        self._leave()
        self.settingsRequested.emit(self._runs_dir / name)

    def _leave(self) -> None:
        if self._dialog is not None:
            self._dialog.close()  # in a small window it hides what is opened
