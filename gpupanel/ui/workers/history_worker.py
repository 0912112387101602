"""Lists, names and deletes runs, off the GUI thread: each of them is a directory."""

from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QFile, QObject, Signal, Slot
from typing_extensions import override

from gpupanel.domain.problem import Problem
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.error_problems import problems_of
from gpupanel.runs.history.deleting import delete_run
from gpupanel.runs.history.label import RunLabel, change_label
from gpupanel.runs.history.summaries import RunLister
from gpupanel.ui.workers.facade import WorkerFacade
from gpupanel.ui.workers.worker_thread import Worker, guarded_slot


@dataclass(frozen=True, slots=True)
class LabelOrder:
    """A label that a run is to get; what stays as it is is ``None``."""

    path: Path
    name: str | None
    notes: str | None


@dataclass(frozen=True, slots=True)
class DeleteOrder:
    """Runs that are to go, to the bin or for good."""

    paths: tuple[Path, ...]
    for_good: bool


@dataclass(frozen=True, slots=True)
class Deletion:
    """What became of runs that were to go.

    Attributes:
        gone: They are in the bin, or deleted for good.
        kept: Their file system has no bin.
        problems: Why others were not deleted.
    """

    gone: tuple[Path, ...]
    kept: tuple[Path, ...]
    problems: tuple[Problem, ...]
    for_good: bool


class _HistoryKeeper(Worker):
    listed = Signal(object)
    labelled = Signal()
    deleted = Signal(object)

    def __init__(self, runs_dir: Path) -> None:
        super().__init__()
        self._lister = RunLister(runs_dir)

    @guarded_slot()
    def read(self) -> None:
        self.listed.emit(self._lister.list())

    @guarded_slot(object)
    def label(self, order: LabelOrder) -> None:
        change_label(RunLayout(order.path), name=order.name, notes=order.notes)
        self.labelled.emit()

    @guarded_slot(object)
    def delete(self, order: DeleteOrder) -> None:
        gone: list[Path] = []
        kept: list[Path] = []
        problems: list[Problem] = []
        for path in order.paths:
            try:
                is_gone = delete_run(RunLayout(path), None if order.for_good else _move_to_bin)
            except Exception as error:  # noqa: BLE001 - the other runs are to go all the same
                problems += problems_of(error)
            else:
                (gone if is_gone else kept).append(path)
        self.deleted.emit(Deletion(tuple(gone), tuple(kept), tuple(problems), order.for_good))


class RunHistory(WorkerFacade):
    """Knows the runs of a folder; ``refused`` tells why one was not named or deleted."""

    listed = Signal(object)
    """The runs, newest first: a tuple of :class:`RunSummary`."""
    unreadable = Signal(object)
    """The :class:`Problem` because of which they cannot be listed."""
    deleted = Signal(object)
    """What became of runs that were to go: a :class:`Deletion`."""
    _readOrdered = Signal()
    _labelOrdered = Signal(object)
    _deleteOrdered = Signal(object)

    def __init__(self, runs_dir: Path, parent: QObject | None = None) -> None:
        self._keeper = _HistoryKeeper(runs_dir)
        super().__init__(self._keeper, "run history", parent)
        self._is_reading = False
        self._is_asked_again = False
        self._readOrdered.connect(self._keeper.read)
        self._labelOrdered.connect(self._keeper.label)
        self._deleteOrdered.connect(self._keeper.delete)
        self._keeper.listed.connect(self._on_listed)
        self._keeper.labelled.connect(self.refresh)
        self._keeper.deleted.connect(self.deleted)
        self._thread.start()

    @Slot()
    def refresh(self) -> None:
        """List the runs anew; ``listed`` follows. Asked meanwhile, it is done once more after."""
        self._is_asked_again = self._is_reading
        if not self._is_reading:
            self._is_reading = True
            self._readOrdered.emit()

    def change_label(self, path: Path, before: RunLabel, after: RunLabel) -> None:
        """Write what was changed of a run's label; it is listed anew, or ``refused`` follows."""
        name = None if after.name == before.name else after.name
        notes = None if after.notes == before.notes else after.notes
        if name is not None or notes is not None:
            self._labelOrdered.emit(LabelOrder(path, name, notes))

    def delete(self, paths: tuple[Path, ...], *, for_good: bool = False) -> None:
        """Move runs to the bin, or delete them for good; ``deleted`` follows."""
        self._deleteOrdered.emit(DeleteOrder(paths, for_good))

    @Slot(object)
    def _on_listed(self, runs: object) -> None:
        self._read()
        self.listed.emit(runs)

    @Slot(str, object)
    @override
    def _on_failed(self, slot: str, problems: tuple[Problem, ...]) -> None:
        if slot != _HistoryKeeper.read.__name__:
            super()._on_failed(slot, problems)
            return
        self._read()
        self.unreadable.emit(problems[0])

    def _read(self) -> None:
        self._is_reading = False
        if self._is_asked_again:
            self.refresh()


def _move_to_bin(path: Path) -> bool:
    """The bin of the person's desktop, as the freedesktop.org trash specification has it."""
    # Through a file of its own: the static function tells no result in PySide6.
    return QFile(str(path)).moveToTrash()
