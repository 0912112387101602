"""The queue in the window: its panel, its button, its entries in the session, its runs in Live."""

from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal, Slot
from PySide6.QtWidgets import QApplication

from gpupanel.domain.problem import Problem
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.locations import queue_dir
from gpupanel.runs.queue.entry import QueueEntry
from gpupanel.runs.queue.orders import RemovedEntry
from gpupanel.runs.queue.waiting_line import WaitingLine
from gpupanel.runs.trust.user_code import UserCode
from gpupanel.ui.bindings.queue_editing import QueueEditing
from gpupanel.ui.bindings.queue_report import QueueReport
from gpupanel.ui.panels.queue_panel import QueuePanel
from gpupanel.ui.panels.run_bar import RunBar
from gpupanel.ui.profile_actions import ProfileActions
from gpupanel.ui.questions import Questions
from gpupanel.ui.queue_button import queue_button
from gpupanel.ui.run_control import RunControl
from gpupanel.ui.runs_page import RunsPage
from gpupanel.ui.session import Session
from gpupanel.ui.workers.launch_worker import LaunchOrder, Order
from gpupanel.ui.workers.queue_worker import QueueOrder, QueueWatch

_MOST_UNDONE = 20
"""Removals that can be undone one after the other, as often as those of runs."""


class QueueBinding(QObject):
    """Binds the user's queue to the window; the queue goes on when the window is closed.

    Args:
        session: Its profile is what the button adds.
        control: Shows the runs of the queue.
        profiles: Asks before changes are lost.
        bar: Has the button.
        page: Has the place for the panel.
        runs_dir: Where the runs of new entries are kept.
        questions: Asks the person, and shows problems.
        parent: The window.
    """

    runBegan = Signal()
    """A run of the queue has begun or ended."""

    def __init__(
        self,
        session: Session,
        control: RunControl,
        profiles: ProfileActions,
        bar: RunBar,
        page: RunsPage,
        runs_dir: Path,
        questions: Questions,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._session, self._control, self._bar = session, control, bar
        self._runs_dir, self._questions = runs_dir, questions
        self._line: WaitingLine | None = None
        self._is_stopped = False
        self._removed: list[RemovedEntry] = []
        # The second click of a double click is no second entry.
        self._after_click = QTimer(self, singleShot=True)
        self._after_click.setInterval(QApplication.doubleClickInterval())
        self._watch = QueueWatch(queue_dir(), self)
        self.changed = self._watch.changed
        """The queue as it is now: a :class:`WaitingLine`."""
        self.editing = QueueEditing(session, profiles, self._watch, self)
        self.report = QueueReport(self._watch, bar, self)
        self.panel = QueuePanel()
        page.setQueue(self.panel)
        self._connect_panel()
        bar.queueRequested.connect(self._add_or_put_back)
        session.preparationChanged.connect(self._show_button)
        session.checkingChanged.connect(self._show_button)
        self._watch.changed.connect(self._on_changed)
        self._watch.problemsChanged.connect(self.panel.setProblems)
        self._watch.removed.connect(self._on_removed)
        self._watch.refused.connect(self._show_refusal)
        self._watch.notTrusted.connect(self._ask_for_trust)
        self.editing.changed.connect(self._on_edited_changed)
        self.editing.overtaken.connect(self._show_refusal)
        self._show_button()

    def begin(self) -> None:
        """Show the queue from now on."""
        self._watch.begin()

    def stop(self) -> None:
        """Watch no more; the queue goes on."""
        self._is_stopped = True
        self._after_click.stop()
        self._watch.stop()

    def _connect_panel(self) -> None:
        panel, watch = self.panel, self._watch
        panel.editRequested.connect(self.editing.edit)
        panel.editLeft.connect(self.editing.leave)
        panel.moveRequested.connect(watch.move)
        panel.removeRequested.connect(watch.remove)
        panel.undoRequested.connect(self._undo)
        panel.pauseRequested.connect(self._pause)
        panel.clearRequested.connect(watch.clear)

    @Slot()
    def _add_or_put_back(self) -> None:
        is_startable = self._session.prepare_now().is_startable
        if self._after_click.isActive() or self._session.is_reading_data or not is_startable:
            return
        self._after_click.start()
        if self.editing.entry_id:
            self.editing.put_back()
        else:
            self._watch.add(self._session.profile, self._runs_dir)

    @Slot(object)
    def await_hours(self, order: Order) -> None:
        """Have a run wait for its hours that was to be started."""
        if isinstance(order, LaunchOrder):
            self._watch.add(order.profile, order.runs_dir)
        else:
            self._watch.continue_run(order.layout, order.changed and order.changed[0])

    @Slot(bool)
    def _pause(self, paused: bool) -> None:
        self._watch.set_paused(paused=paused)

    @Slot(object)
    def _on_removed(self, removed: RemovedEntry) -> None:
        self._removed = [*self._removed, removed][-_MOST_UNDONE:]
        self._show_undo()

    @Slot()
    def _undo(self) -> None:
        if self._removed:
            self._watch.put_back(self._removed.pop())
            self._show_undo()

    def _show_undo(self) -> None:
        self.panel.setRemoved(self._removed[-1].entry.name if self._removed else "")

    @Slot(object)
    def _on_changed(self, line: WaitingLine) -> None:
        before, self._line = self._line, line
        self.panel.setLine(line)
        self._show_button()
        if before is None or _runs(before) == _runs(line):
            return
        self.runBegan.emit()
        begun = sorted(_runs(line) - _runs(before))
        if begun:
            self._follow(begun[0])

    def _follow(self, run: Path) -> None:
        """Follow a run that has begun, unless another one goes on; a past one stays shown."""
        if self._session.run_state.is_busy or self._control.active is not None:
            return
        shown = self._control.shown
        if shown is None or shown.root in {entry.run for entry in self._entries()}:
            self._control.follow(RunLayout(run))
        else:
            self._control.follow_unseen(RunLayout(run))

    @Slot()
    def _on_edited_changed(self) -> None:
        self.panel.setEdited(self.editing.entry_id)
        self._show_button()

    @Slot()
    def _show_button(self) -> None:
        entry_id = self.editing.entry_id
        edited = next((entry for entry in self._entries() if entry.id == entry_id), None)
        waiting = 0 if self._line is None else len(self._line.waiting)
        reading = self._session.is_reading_data
        button = queue_button(self._session.preparation, edited, waiting, reading=reading)
        self._bar.setQueueButton(button)

    def _entries(self) -> tuple[QueueEntry, ...]:
        return () if self._line is None else self._line.entries

    @Slot(object)
    def _show_refusal(self, problems: tuple[Problem, ...]) -> None:
        self._questions.show_problems("The queue could not do that.", problems)

    @Slot(object, object)
    def _ask_for_trust(self, order: QueueOrder, code: tuple[UserCode, ...]) -> None:
        if not self._is_stopped and self._questions.about_code(code):
            self._watch.carry_out_trusted(order, code)


def _runs(line: WaitingLine) -> frozenset[Path]:
    """The directories of the runs that go on and are whole."""
    return frozenset(
        entry.run for entry in line.running if entry.run is not None and entry.is_filled
    )
