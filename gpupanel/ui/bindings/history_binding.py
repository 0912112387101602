"""What the page of runs does: lists them, and names, notes and deletes as a person asks."""

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QSettings, Signal, Slot

from gpupanel.domain.problem import Problem
from gpupanel.domain.problem_text import problem_sentences
from gpupanel.runs.history.label import RunLabel
from gpupanel.runs.history.run_summary import RunSummary
from gpupanel.ui.questions import Questions
from gpupanel.ui.remembered import remember_columns, remembered_columns
from gpupanel.ui.runs_page import RunsPage
from gpupanel.ui.workers.history_worker import Deletion, Restoration, RunHistory

if TYPE_CHECKING:
    from gpupanel.runs.history.restoring import BinnedRun

_MOST_UNDONE = 20
"""Times that runs went to the bin, which can be undone one after the other."""


class HistoryBinding(QObject):
    """Binds the page of runs to their folder; remembers how its columns are wanted.

    Args:
        page: Shows the runs.
        runs_dir: Where they are kept.
        questions: Asks the person.
        settings: Where the columns are remembered.
        parent: The window.
    """

    listed = Signal(object)
    """All runs, newest first: a tuple of :class:`RunSummary`."""
    goingFound = Signal(object)
    """The first listing found a run that goes on: its directory, a :class:`Path`."""

    def __init__(
        self,
        page: RunsPage,
        runs_dir: Path,
        questions: Questions,
        settings: QSettings,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._page, self._questions, self._settings = page, questions, settings
        self._runs: tuple[RunSummary, ...] | None = None
        self._is_stopped = False
        self._binned: list[tuple[BinnedRun, ...]] = []
        self._history = self.worker = RunHistory(runs_dir, self)
        """Knows the runs."""
        page.panel.settingsWanted.connect(self._history.want_settings)
        page.panel.setColumns(remembered_columns(settings))
        page.refreshRequested.connect(self.refresh)
        page.panel.refreshRequested.connect(self.refresh)
        page.panel.renameRequested.connect(self._rename)
        page.panel.notesRequested.connect(self._note)
        page.panel.deleteRequested.connect(self._delete)
        page.panel.undoRequested.connect(self._undo)
        page.panel.columnsChanged.connect(self._remember_columns)
        self._history.listed.connect(self._on_listed)
        self._history.unreadable.connect(page.panel.setProblem)
        self._history.settingsRead.connect(page.panel.setSettings)
        self._history.settingsUnreadable.connect(self._show_unreadable_settings)
        self._history.deleted.connect(self._on_deleted)
        self._history.restored.connect(self._on_restored)
        self._history.refused.connect(self._show_refusal)

    @Slot()
    def refresh(self) -> None:
        """List the runs anew."""
        self._history.refresh()

    @Slot()
    def begin_anew(self) -> None:
        """List the runs as if for the first time: what was listed before was of another time."""
        self._runs = None
        self._history.refresh()

    def stop(self) -> None:
        """Do nothing any more."""
        self._is_stopped = True
        self._history.stop()

    @Slot(object)
    def _on_listed(self, runs: tuple[RunSummary, ...]) -> None:
        is_first, self._runs = self._runs is None, runs
        self._page.setRuns(runs)
        self.listed.emit(runs)
        going = next((run for run in runs if run.is_running), None)
        if is_first and going is not None:
            self.goingFound.emit(going.path)

    @Slot(object)
    def _rename(self, run: RunSummary) -> None:
        self._ask_label(run, at_notes=False)

    @Slot(object)
    def _note(self, run: RunSummary) -> None:
        self._ask_label(run, at_notes=True)

    def _ask_label(self, run: RunSummary, *, at_notes: bool) -> None:
        label = self._questions.about_label(run, at_notes=at_notes)
        if label is not None:
            before = RunLabel(name=run.label, notes=run.notes, tags=run.tags)
            self._history.change_label(run.path, before, label)

    @Slot(object)
    def _delete(self, runs: tuple[RunSummary, ...]) -> None:
        self._history.delete(tuple(run.path for run in runs))

    @Slot(object)
    def _on_deleted(self, deletion: Deletion) -> None:
        gone = frozenset(deletion.gone)
        if self._runs is not None and gone:
            self._runs = tuple(run for run in self._runs if run.path not in gone)
            self._page.setRuns(self._runs)
            how = "Deleted" if deletion.for_good else "Moved to the bin"
            what = "1 run" if len(gone) == 1 else f"{len(gone):,} runs"
            self._page.panel.setNotice(f"{how}: {what}.")
        if deletion.binned:
            self._binned = [*self._binned, deletion.binned][-_MOST_UNDONE:]
            self._show_undo()
        if deletion.problems:
            self._questions.show_problems("Not all of the runs were deleted.", deletion.problems)
        if self._is_stopped:
            return  # the window is gone, and with it whoever could be asked
        if deletion.kept and self._questions.about_deleting_for_good(deletion.kept):
            self._history.delete(deletion.kept, for_good=True)
        self._history.refresh()

    @Slot()
    def _undo(self) -> None:
        if self._binned:
            self._history.restore(self._binned.pop())
            self._show_undo()

    @Slot(object)
    def _on_restored(self, restoration: Restoration) -> None:
        count = len(restoration.back)
        if count:
            what = "1 run" if count == 1 else f"{count:,} runs"
            self._page.panel.setNotice(f"Back from the bin: {what}.")
        if restoration.problems:
            title = "Not all of the runs came back from the bin."
            self._questions.show_problems(title, restoration.problems)
        self._history.refresh()

    def _show_undo(self) -> None:
        last = self._binned[-1] if self._binned else ()
        self._page.panel.setUndo(tuple(run.place.name for run in last))

    @Slot()
    def _remember_columns(self) -> None:
        remember_columns(self._settings, self._page.panel.columns())

    @Slot(object)
    def _show_unreadable_settings(self, problem: Problem) -> None:
        self._page.panel.setNotice(f"Settings not read: {problem_sentences(problem)}")

    @Slot(object)
    def _show_refusal(self, problems: tuple[Problem, ...]) -> None:
        self._questions.show_problems("The name, tags and notes were not saved.", problems)
