"""Finds out what a person meant who dropped files anywhere on the window."""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QFileInfo, QObject, Signal

from gpupanel.domain.problem import Problem
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.visible_text import visible_line
from gpupanel.ui.dropped_files import is_file_of_data, is_program
from gpupanel.ui.panels.data_panel import DataPanel
from gpupanel.ui.panels.model_panel import ModelPanel
from gpupanel.ui.workers.workplace import workplace

_LONGEST_NAME = 80


class Drops(QObject):
    """Opens a profile, a program or a run, or chooses data or a model.

    Where several are possible the first of these wins; a panel that files are dropped on takes
    them as what it is about.

    Args:
        data: Takes data.
        model: Takes models.
        open_file: Opens a profile, or begins with a program of the person's own.
        open_run: Shows a run.
        leave_program: Lets the session train again where it runs a program, which has no data.
        parent: The window.
    """

    chosen = Signal()
    """The session has other data, or another model."""
    refused = Signal(object)
    """Problems: nothing here takes such files."""
    copyOffered = Signal(object)
    """Data or models of this machine, which another one is to have: their paths, a tuple."""

    def __init__(
        self,
        data: DataPanel,
        model: ModelPanel,
        open_file: Callable[[Path], object],
        open_run: Callable[[Path], object],
        leave_program: Callable[[], object],
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._data, self._model = data, model
        self._open_file, self._open_run = open_file, open_run
        self._leave_program = leave_program

    def take(self, paths: tuple[str, ...]) -> None:
        """Do what was meant, or report that nothing can be done with these."""
        first = Path(paths[0])
        is_folder = QFileInfo(paths[0]).isDir()
        is_profile = len(paths) == 1 and first.suffix.lower() == ".toml"
        if workplace().host and (is_folder or not is_profile):
            self._offer(paths)
        elif (is_profile or is_program(paths)) and not is_folder:
            self._open_file(first)
        elif len(paths) == 1 and is_folder and _is_run(first):
            self._open_run(first)
        else:
            self.choose(paths)

    def choose(self, paths: tuple[str, ...]) -> None:
        """Choose what is on the machine that is worked on, or report that nothing takes it."""
        if self._data.can_take(paths):
            self._leave_program()
            self._data.take(paths)
            self.chosen.emit()
        elif self._model.can_take(paths):
            self._leave_program()
            self._model.take(paths)
            self.chosen.emit()
        else:
            self.refused.emit((_refusal(paths),))

    def _offer(self, paths: tuple[str, ...]) -> None:
        """Of what is on this machine data and models can be copied to the host."""
        is_data = all(QFileInfo(path).isDir() or is_file_of_data(path) for path in paths)
        is_opened = is_program(paths) or (len(paths) == 1 and _is_run(Path(paths[0])))
        if not is_opened and (is_data or self._model.can_take(paths)):
            self.copyOffered.emit(paths)
        else:
            self.refused.emit((_elsewhere(workplace().host),))


def _is_run(folder: Path) -> bool:
    layout = RunLayout(folder)
    return any(QFileInfo(str(file)).isFile() for file in (layout.events, layout.plan))


def _elsewhere(host: str) -> Problem:
    return Problem(
        code="drop_elsewhere",
        message=f"What was dropped is on this machine, and this window works on {host}: only "
        "profiles are opened from here, and data and models copied there.",
        hint="Open runs and programs of this machine in a window without --host.",
    )


def _refusal(paths: tuple[str, ...]) -> Problem:
    name = visible_line(Path(paths[0]).name)[:_LONGEST_NAME]
    what = f"“{name}”" if len(paths) == 1 else f"“{name}” and {len(paths) - 1:,} more"
    return Problem(
        code="drop_not_understood",
        message=f"Nothing can be done with {what}: it is not a profile, run, data set, model "
        "or program that gpupanel knows.",
        hint="Drop a profile (.toml), a run's folder, a folder of images, a table (.csv, "
        ".parquet), arrays (.npz, .npy), TFRecord files, a model (.keras), or a program of your "
        "own (.py, .sh).",
    )
