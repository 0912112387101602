"""The evaluations, or the predictions, of the run that is shown: listed on its page, one seen."""

from pathlib import Path

from PySide6.QtCore import QObject, QUrl, Signal, Slot
from PySide6.QtGui import QDesktopServices

from gpupanel.domain.problem import Problem
from gpupanel.domain.profile import Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.following.status import RunStatus
from gpupanel.ui.run_actions import RunActions
from gpupanel.ui.run_control import RunControl
from gpupanel.ui.run_links import RunLinks
from gpupanel.ui.run_page.model_runs_page import ModelRunsPage
from gpupanel.ui.run_page.page import LivePage
from gpupanel.ui.session import Session
from gpupanel.ui.workers.run_reader import RunFacts
from gpupanel.ui.workers.run_worker import RunWatch


class ModelRuns(QObject):
    """Follows the one that is looked at; where the shown run is one itself, it is that.

    Args:
        page: One of the two tabs of the run's page.
        live: Has it.
        control: Knows the shown run, and the one that goes on.
        session: Knows how that one stands.
        parent: The window.
    """

    refused = Signal(object)
    """The run that was chosen cannot be read: a tuple of :class:`Problem`."""
    looked_at_changed = Signal()
    """Another one is looked at, or none."""
    copyRequested = Signal(object, str)
    """A copy is wanted of a file of predictions: the :class:`RunLayout` that has it, its name."""

    def __init__(
        self,
        page: ModelRunsPage,
        live: LivePage,
        control: RunControl,
        session: Session,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._page, self._live = page, live
        self._control, self._session = control, session
        self._watch: RunWatch | None = None
        self._is_itself = self._awaits_start = False
        self._actions = RunActions()
        control.shownChanged.connect(self._begin)
        control.shownOpened.connect(self._on_opened)
        control.shownStatusChanged.connect(self._on_shown_status)
        session.runChanged.connect(self._show_steering)
        live.words.linksChanged.connect(self._list)
        live.words.actionsChanged.connect(self._on_actions)
        page.runChosen.connect(self.look_at)
        page.restRequested.connect(self._rest)
        page.stopRequested.connect(self._stop_run)
        page.panel.folderRequested.connect(self._open_folder)
        page.panel.saveRequested.connect(self._request_copy)

    @property
    def layout(self) -> RunLayout | None:
        """The run that is looked at; ``None``: none is."""
        if self._is_itself:
            return self._control.shown
        return None if self._watch is None else self._watch.layout

    @property
    def profile(self) -> Profile | None:
        """Its profile, once it is read."""
        if self._is_itself:
            return self._control.shown_profile
        facts = None if self._watch is None else self._watch.facts
        return None if facts is None else facts.profile

    @property
    def status(self) -> RunStatus | None:
        """Where it stands."""
        if self._is_itself:
            return self._control.shown_status
        return None if self._watch is None else self._watch.status

    def await_start(self) -> None:
        """Show that one of these is being started, until it has a directory or is refused."""
        self._awaits_start = True
        self._show_steering()

    @Slot(object)
    def look_at(self, path: Path) -> None:
        """Show what the run in that directory found, from its beginning."""
        self._drop()
        self._watch = watch = RunWatch(RunLayout(path), self)
        watch.statusChanged.connect(self._show)
        watch.unreadable.connect(self._on_unreadable)
        self._page.look_at(path)
        self.looked_at_changed.emit()
        self._live.show_model_runs(self._page)
        self._show_steering()
        watch.start()

    @Slot()
    def _open_folder(self) -> None:
        if self.layout is not None:
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(self.layout.root)))

    @Slot(str)
    def _request_copy(self, name: str) -> None:
        if self.layout is not None:
            self.copyRequested.emit(self.layout, name)

    def stop(self) -> None:
        """Follow nothing any more."""
        watch, self._watch = self._watch, None
        if watch is not None:
            watch.stop()
            watch.retire()

    @Slot()
    def _begin(self) -> None:
        self._is_itself = False
        self._page.setItself(is_itself=False)
        self._rest()

    @Slot()
    def _rest(self) -> None:
        self._drop()
        self._page.forget()
        self.looked_at_changed.emit()

    @Slot(object)
    def _on_opened(self, facts: RunFacts) -> None:
        is_itself = facts.profile is not None and facts.profile.task == self._page.task
        if not is_itself or self._is_itself:
            return
        self._is_itself = True
        self._page.setItself(is_itself=True)
        self._page.look_at(facts.layout.root, self._control.shown_status)
        self._live.show_model_runs(self._page)

    @Slot(object)
    def _on_shown_status(self, status: RunStatus) -> None:
        if self._is_itself:
            self._show(status)

    @Slot(object)
    def _show(self, status: RunStatus) -> None:
        layout = self.layout
        if layout is None:
            return
        figures = self._control.shown_figures
        if not self._is_itself and self._watch is not None:
            figures = self._watch.figures
        self._page.panel.setStatus(status, layout.root, figures)
        self._show_steering()

    @Slot()
    def _show_steering(self) -> None:
        self._page.setActions(self._actions, is_busy=self._session.run_state.is_busy)
        status = self.status
        if self._awaits_start:
            self._awaits_start = self._session.run_state.is_busy and self._control.active is None
            words = self._session.state_text if self._awaits_start else ""
            self._page.setStarting(words, can_stop=self._session.buttons.stop)
        if status is not None and not self._awaits_start:
            is_active = self.layout == self._control.active
            self._page.setStatus(status, can_stop=is_active and self._session.buttons.stop)

    @Slot(object)
    def _on_actions(self, actions: RunActions) -> None:
        self._actions = actions
        self._show_steering()

    @Slot(object)
    def _list(self, links: RunLinks) -> None:
        self._page.setRuns([run for run in links.others if run.task == self._page.task])

    @Slot()
    def _stop_run(self) -> None:
        # It may have ended a moment ago, and another one begun.
        is_active = self.layout is not None and self.layout == self._control.active
        if is_active or self._awaits_start:
            self._control.stop()

    @Slot(object)
    def _on_unreadable(self, problem: Problem) -> None:
        self._drop()
        self._page.forget()
        self.looked_at_changed.emit()
        self.refused.emit((problem,))

    def _drop(self) -> None:
        self._awaits_start = False
        watch, self._watch = self._watch, None
        if watch is not None:
            watch.retire()
