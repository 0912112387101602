"""What is said about the run that is shown, above its curves, and what can be done with it."""

import time

from PySide6.QtCore import QObject, Signal, Slot

from gpupanel.domain.events import MemoryReturned
from gpupanel.domain.hours import until_text
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.problem import Problem
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.visible_text import visible_line
from gpupanel.runs.following.memory_text import freed_text
from gpupanel.runs.following.status import RunStatus
from gpupanel.runs.following.unread_problems import unread_file_problem, unread_problem
from gpupanel.runs.history.run_summary import RunSummary
from gpupanel.runs.queue.ended_hours import hours_entry
from gpupanel.runs.queue.waiting_line import WaitingLine
from gpupanel.ui.checkpoint_offer import checkpoint_offer
from gpupanel.ui.device_labels import DeviceLabels
from gpupanel.ui.resume_on_selected import ResumeOnSelected, resume_on_selected
from gpupanel.ui.run_actions import offers_resume, restart_text, run_actions
from gpupanel.ui.run_control import RunControl
from gpupanel.ui.run_devices import devices_of_run, known_devices
from gpupanel.ui.run_links import links_of
from gpupanel.ui.run_page.banner import RunBanner
from gpupanel.ui.run_texts import card_text, status_text
from gpupanel.ui.session import Session
from gpupanel.ui.workers.run_reader import RunFacts


class ShownWords(QObject):
    """Binds the banner to the run that is shown; what its buttons do with runs is done here.

    Args:
        session: Knows whether a run goes on, and the devices that are chosen.
        control: Knows which run is shown.
        banner: Says it.
    """

    linksChanged = Signal(object)
    """Which runs belong to the shown one: :class:`RunLinks`."""
    actionsChanged = Signal(object)
    """What can be done with it: :class:`RunActions`."""

    def __init__(self, session: Session, control: RunControl, banner: RunBanner) -> None:
        super().__init__(banner)
        self._session, self._control, self._banner = session, control, banner
        self._runs: tuple[RunSummary, ...] = ()
        self._queue = WaitingLine()
        session.runChanged.connect(self._show_ways_on)
        session.preparationChanged.connect(self._show_ways_on)
        control.shownChanged.connect(self._begin)
        control.shownOpened.connect(self._on_opened)
        control.shownStatusChanged.connect(self._show_status)
        control.checkpointAsked.connect(self._show_ways_on)
        buttons = banner.buttons
        buttons.returnRequested.connect(self._return)
        buttons.checkpointRequested.connect(control.save_checkpoint)
        buttons.resumeRequested.connect(control.resume)
        buttons.resumeOnSelectedRequested.connect(self._resume_on_selected)
        buttons.changedDataAccepted.connect(control.resume_with_changed_data)

    @Slot(object)
    def set_runs(self, runs: tuple[RunSummary, ...]) -> None:
        """Know all runs, the newest first: some belong to the one that is shown."""
        self._runs = runs
        self._show_links()

    @Slot(object)
    def set_queue(self, line: WaitingLine) -> None:
        """Know the queue: it may continue the run that is shown."""
        self._queue = line
        status = self._control.shown_status
        if status is not None and status.has_ended:
            self._show_status(status)

    def title_of(self, layout: RunLayout) -> str:
        """What a run is called for people; its folder's name until it is listed."""
        titles = (run.title for run in self._runs if run.path == layout.root)
        return visible_line(next(titles, layout.name))

    def _show_links(self) -> None:
        shown = self._control.shown
        links = links_of(None if shown is None else shown.root, self._runs)
        self._banner.buttons.setOrigin(links.origin)
        self.linksChanged.emit(links)
        title = "" if shown is None else self.title_of(shown)
        # The folder's name is long, and stands in the tooltip.
        self._banner.setLabel("" if shown is None or title == shown.name else title)

    @Slot(object)
    def _begin(self, layout: RunLayout) -> None:
        banner = self._banner
        banner.setRun(layout.name)
        banner.setEnd("")
        banner.problem.setProblem(None)
        banner.setCard("")
        banner.setStory("")
        banner.setMemory("")
        banner.setGaps("")
        banner.setNotice("")
        banner.buttons.setSettingsReadable(readable=False)
        self._show_links()
        self._show_ways_on()

    @Slot(object)
    def _on_opened(self, facts: RunFacts) -> None:
        self._banner.buttons.setSettingsReadable(readable=facts.profile is not None)
        self._show_gaps()
        self._show_ways_on()

    @Slot(object)
    def _show_status(self, status: RunStatus) -> None:
        layout = self._control.shown
        if layout is not None:
            self._banner.setRun(layout.name)
            until = self._until(layout, status)
            self._banner.setEnd(status_text(status, until) if status.has_ended else "")
            self._banner.setCard(card_text(status))
        self._banner.setStory(restart_text(status, self._device_names()))
        self._banner.problem.setProblem(problem_to_show(status), status.log_tail)
        self._show_memory(status.memory_returned)
        self._show_gaps()
        self._show_ways_on()

    def _until(self, layout: RunLayout, status: RunStatus) -> str:
        """Until when the run is suspended for its hours; empty: it is not, or stays so."""
        entry = hours_entry(self._queue, layout.root)
        if entry is None or status.hours_ended is None or status.outcome is not Outcome.SUSPENDED:
            return ""
        return until_text(entry.begin_s or status.hours_ended.begin_s, time.time())

    def _device_names(self) -> dict[str, str]:
        """The names of this machine's devices and the run's, by key."""
        inventory, facts = known_devices(self._session), self._control.shown_facts
        plan = None if facts is None else facts.plan
        known = None if inventory is None else devices_of_run(plan, inventory)
        return DeviceLabels(known).names()

    def _show_memory(self, returned: MemoryReturned | None) -> None:
        if returned is None:
            self._banner.setMemory("")
            return
        is_held = any(device.still_held_mib for device in returned.devices)
        self._banner.setMemory(freed_text(returned, self._device_names()), is_held=is_held)

    def _show_gaps(self) -> None:
        """Say what of the run's folder this version cannot read."""
        facts, status = self._control.shown_facts, self._control.shown_status
        gaps = [
            unread_file_problem(name)
            for name, content in (
                ("profile", facts and facts.profile),
                ("plan", facts and facts.plan),
            )
            if facts is not None and content is None
        ]
        unread = None if status is None else unread_problem(status.unread_lines)
        gaps += [] if unread is None else [unread]
        words = " ".join(problem.message for problem in gaps)
        self._banner.setGaps(words, " ".join(problem.hint for problem in gaps))

    @Slot()
    def _show_ways_on(self) -> None:
        control, state = self._control, self._session.run_state
        shown = control.shown_status
        buttons = self._banner.buttons
        other = control.elsewhere
        buttons.setReturn("" if other is None else self.title_of(other))
        goes_on = shown if control.active == control.shown else None
        is_saving = control.is_saving_checkpoint
        buttons.setCheckpointOffer(checkpoint_offer(state, goes_on, is_saving=is_saving))
        asks = offers_resume(shown) and not state.is_busy
        actions = run_actions(state, shown, self._selected_devices_resume() if asks else None)
        buttons.setActions(actions, None if shown is None else shown.outcome)
        self.actionsChanged.emit(actions)
        ending = shown.ending_problem if shown is not None and shown.has_ended else None
        can_try = not state.is_busy and control.shown_profile is not None
        self._banner.problem.setFixes(ending, can_try=can_try)

    def _selected_devices_resume(self) -> ResumeOnSelected:
        return resume_on_selected(self._session, self._control.shown_profile)

    @Slot()
    def _resume_on_selected(self) -> None:
        order = self._selected_devices_resume().order
        if order is not None:
            self._control.resume_with(*order)

    @Slot()
    def _return(self) -> None:
        if self._control.active is not None:
            self._control.open(self._control.active)


def problem_to_show(status: RunStatus) -> Problem | None:
    """What keeps the run, or ended it, or what it reported last since it was started again."""
    reported = status.problems[status.problems_before :]
    return status.stuck or status.ending_problem or (reported[-1] if reported else None)
