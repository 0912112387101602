"""All parts of the window, in the order in which they are made; each ends as it says here."""

from gpupanel.ui.bindings.comparison import Comparison
from gpupanel.ui.bindings.confirmations import EndConfirmation, ProcessActions, StartConfirmation
from gpupanel.ui.bindings.connect_binding import ConnectBinding
from gpupanel.ui.bindings.device_history_binding import DeviceHistoryBinding
from gpupanel.ui.bindings.doctor_binding import DoctorBinding
from gpupanel.ui.bindings.drops import Drops
from gpupanel.ui.bindings.finder_binding import FinderBinding
from gpupanel.ui.bindings.finding_fixes import FindingFixes
from gpupanel.ui.bindings.folds_binding import FoldsBinding
from gpupanel.ui.bindings.history_binding import HistoryBinding
from gpupanel.ui.bindings.last_session import LastSession
from gpupanel.ui.bindings.live_curve_files import LiveCurveFiles
from gpupanel.ui.bindings.machine_settings_binding import MachineSettingsBinding
from gpupanel.ui.bindings.menu_binding import MenuBinding
from gpupanel.ui.bindings.model_gallery_binding import ModelGalleryBinding
from gpupanel.ui.bindings.model_runs import ModelRuns
from gpupanel.ui.bindings.model_use import ModelUse
from gpupanel.ui.bindings.new_sweep_binding import NewSweepBinding
from gpupanel.ui.bindings.note_binding import NoteBinding
from gpupanel.ui.bindings.notes_settings_binding import NotesSettingsBinding
from gpupanel.ui.bindings.opened_runs import OpenedRuns
from gpupanel.ui.bindings.own_data_binding import OwnDataBinding
from gpupanel.ui.bindings.past_speed_binding import PastSpeedBinding
from gpupanel.ui.bindings.power_binding import PowerBinding
from gpupanel.ui.bindings.profile_binding import ProfileBinding
from gpupanel.ui.bindings.queue_binding import QueueBinding
from gpupanel.ui.bindings.run_binding import RunBinding
from gpupanel.ui.bindings.settings_reuse import LongerTraining, RetryWithFix, SettingsReuse
from gpupanel.ui.bindings.shown_devices import ShownDevices
from gpupanel.ui.bindings.single_predictions import SinglePredictions
from gpupanel.ui.bindings.sweeps_binding import SweepsBinding
from gpupanel.ui.bindings.tensorboard_binding import TensorBoardBinding
from gpupanel.ui.bindings.undo_binding import UndoBinding
from gpupanel.ui.bindings.validation_examples import ValidationExamples
from gpupanel.ui.bindings.waiting_run import WaitingRun
from gpupanel.ui.bindings.window_settings_binding import WindowSettingsBinding
from gpupanel.ui.tools.batch_search.binding import BatchFitBinding
from gpupanel.ui.tools.bench.binding import BenchBinding
from gpupanel.ui.tools.download_binding import DownloadBinding
from gpupanel.ui.tools.examples.binding import ExamplesBinding
from gpupanel.ui.tools.export.binding import ExportBinding
from gpupanel.ui.tools.self_test.binding import SelfTestBinding
from gpupanel.ui.tools.session_tool_binding import bind_session_tool
from gpupanel.ui.tools.session_tools import SESSION_TOOLS
from gpupanel.ui.tools.trace.binding import TraceBinding
from gpupanel.ui.widgets.cut_texts import CutTexts
from gpupanel.ui.window_core import WindowCore
from gpupanel.ui.window_parts import NOT_DONE, StopRank, WindowParts
from gpupanel.ui.workers.sweep_start_worker import SweepStarter

_NOT_BEGUN = "The model was not used."
_NOT_LONGER = "The run cannot be trained longer."


def add_parts(core: WindowCore, parts: WindowParts) -> None:
    """Make every part of a window, and connect what one asks of another."""
    _add_core(core, parts)
    _add_devices(core, parts)
    _add_tools(core, parts)
    _add_runs(core, parts)
    _add_sweeps_and_queue(core, parts)
    _add_window(core, parts)
    _add_ways_on(core, parts)


def _add_core(core: WindowCore, parts: WindowParts) -> None:
    add, session, control = parts.add, core.session, core.control
    add(session, ending=StopRank.SESSION, stop=session.close)
    # Its method ``stop`` is the button's.
    add(control, refusal=NOT_DONE, ending=StopRank.RUN, stop=control.close)
    add(core.device_watch, ending=StopRank.SESSION)
    add(core.folder_watch)
    add(core.session_page)
    add(core.preview_loader)
    add(core.tabs, ending=StopRank.MEMORY)
    add(OpenedRuns(control, core.tabs, core.window))
    core.folder_watch.found.connect(session.set_folder_problem)
    for happened in (control.launched, control.launchedBeside, control.ended, control.refused):
        happened.connect(core.folder_watch.look)
    control.launched.connect(core.tabs.show_live)


def _add_devices(core: WindowCore, parts: WindowParts) -> None:
    add, session, window = parts.add, core.session, core.window
    devices, page = core.devices, core.session_page
    processes = add(ProcessActions(session, core.questions, window), ending=StopRank.SESSION)
    doctor = add(DoctorBinding(session, core.device_watch, window))
    shown = add(ShownDevices(session, core.device_watch, core.cluster_watch, devices, page, window))
    add(DeviceHistoryBinding(session, shown, devices, window))
    add(PowerBinding(session, devices, core.runs_dir, window), refusal=NOT_DONE)
    folds = FoldsBinding(devices, page.sections, core.live_page.live, core.settings, window)
    add(folds, ending=StopRank.MEMORY)
    places = (devices, devices.head, devices.general, devices.unresponsive, page.plan.problems)
    for asking in places:
        asking.doctorRequested.connect(doctor.open_doctor)
    devices.unresponsive.wakeRequested.connect(core.device_watch.wake)
    devices.endRequested.connect(processes.end)
    page.plan.problems.fieldActivated.connect(devices.show_field)


def _add_tools(core: WindowCore, parts: WindowParts) -> None:
    add, session, page, window = parts.add, core.session, core.session_page, core.window
    for tool in SESSION_TOOLS:
        add(bind_session_tool(tool, session, page, window))
    add(BatchFitBinding(session, page, window))
    self_test = add(SelfTestBinding(session, page, window))
    parts[DoctorBinding].selfTestRequested.connect(self_test.open)
    add(BenchBinding(session, page, core.runs_dir, window))
    add(DownloadBinding(session, page, parent=window), refusal=NOT_DONE)
    add(OwnDataBinding(session, page, window))
    add(ModelGalleryBinding(page.model, window))
    add(TraceBinding(core.actions.trace, core.live_page, core.control, window))


def _add_runs(core: WindowCore, parts: WindowParts) -> None:
    add, control, window, questions = parts.add, core.control, core.window, core.questions
    live, runs, opened = core.live_page, core.runs, parts[OpenedRuns]
    history = add(HistoryBinding(runs, core.runs_dir, questions, core.settings, window))
    past_speed = add(PastSpeedBinding(core.session, core.session_page.plan, history.worker, window))
    parts[BenchBinding].worker.answered.connect(past_speed.ask_soon)
    add(Comparison(runs, questions, window))
    add(LiveCurveFiles(live.live, control, questions, window))
    add(ExportBinding(control, live, runs, questions, window))
    board = add(TensorBoardBinding(control, live, questions, window))
    core.actions.tensorboard.triggered.connect(board.open_shown)
    parts[TraceBinding].tensorboardRequested.connect(board.open)
    history.listed.connect(live.words.set_runs)
    history.goingFound.connect(opened.follow)
    page, settings = core.session_page, core.settings
    add(WaitingRun(history.worker, control, opened, page, live.live, settings, window))
    control.launched.connect(history.refresh)
    control.launchedBeside.connect(history.refresh)
    control.ended.connect(history.refresh)
    runs.panel.runOpened.connect(opened.open)
    live.banner.buttons.originRequested.connect(opened.open)


def _add_sweeps_and_queue(core: WindowCore, parts: WindowParts) -> None:
    add, session, window, questions = parts.add, core.session, core.window, core.questions
    control, profiles, runs, tabs = core.control, core.profiles, core.runs, core.tabs
    history, runs_dir = parts[HistoryBinding], core.runs_dir
    actions = core.actions
    sweeps = add(SweepsBinding(actions.sweeps, actions.new_sweep, runs_dir, questions, window))
    starter = SweepStarter(runs_dir, window)
    new_sweep = add(
        NewSweepBinding(
            actions.new_sweep, session, profiles, history.worker, starter, questions, window
        )
    )
    new_sweep.started.connect(sweeps.show_sweep)
    core.session_page.open_sweep.clicked.connect(new_sweep.open)
    sweeps.runOpened.connect(parts[OpenedRuns].open)
    queue = add(
        QueueBinding(session, control, profiles, core.run_bar, runs, runs_dir, questions, window)
    )
    queue.report.countsChanged.connect(tabs.show_queue)
    tabs.runsShown.connect(queue.report.mark_seen)
    queue.runBegan.connect(history.refresh)
    queue.changed.connect(core.live_page.words.set_queue)
    queue.panel.runOpened.connect(parts[OpenedRuns].open)
    queue.editing.opened.connect(tabs.show_session)


def _add_window(core: WindowCore, parts: WindowParts) -> None:
    add, session, control, window = parts.add, core.session, core.control, core.window
    settings, actions = core.settings, core.actions
    run_bar = core.run_bar
    add(ProfileBinding(session, core.profiles, core.profile_bar, run_bar, core.devices, window))
    steering = (run_bar, core.live_page, core.devices, parts[OpenedRuns])
    run = add(RunBinding(session, control, *steering, window))
    parts[HistoryBinding].listed.connect(run.show_run)
    notes, devices = add(NotesSettingsBinding(window), refusal=NOT_DONE), core.device_watch
    pages = (add(MachineSettingsBinding(session, window)), notes)
    chosen = add(WindowSettingsBinding(settings, actions, devices, core.runs_dir, *pages, window))
    undoing = add(UndoBinding(session, actions, window))
    undoing.settingsChanged.connect(core.tabs.show_session)
    core.profiles.begun.connect(core.tabs.show_session)
    add(CutTexts(window))
    add(ConnectBinding(actions.connect_to, settings, window), refusal=NOT_DONE)
    add(NoteBinding(session, control, chosen, window), ending=StopRank.MEMORY)
    doctor = parts[DoctorBinding]
    bar, live, tabs = core.profile_bar, core.live_page, core.tabs
    menus = MenuBinding(actions, session, control, bar, live, tabs, doctor, window)
    add(menus, ending=StopRank.MEMORY)
    add(FinderBinding(actions.find, session, core.session_page, tabs, menus.menu_bar))
    starts = add(StartConfirmation(control, core.questions, window))
    starts.queueRequested.connect(parts[QueueBinding].await_hours)
    add(EndConfirmation(session, control, core.questions, window))
    add(LastSession(session, core.profiles, settings, window), ending=StopRank.MEMORY)


def _add_ways_on(core: WindowCore, parts: WindowParts) -> None:
    """What begins something from what is there; most of it fills in the Session tab."""
    add, session, control, window = parts.add, core.session, core.control, core.window
    profiles, live, page = core.profiles, core.live_page, core.session_page
    show_session = core.tabs.show_session
    retry = add(RetryWithFix(session, control, profiles, live, window))
    retry.notStarted.connect(show_session)
    longer = LongerTraining(session, control, live, core.questions, window)
    add(longer, refusal=_NOT_LONGER)
    add(FindingFixes(session, profiles, control, live, window)).used.connect(show_session)
    reuse = add(SettingsReuse(profiles, control, live, core.runs, window))
    reuse.used.connect(show_session)
    parts[SweepsBinding].settingsRequested.connect(reuse.use_settings_of)
    _add_model_runs(core, parts)
    open_run, leave = parts[OpenedRuns].open, page.leave_program
    opens = (profiles.open_file, open_run)
    drops = add(Drops(page.data, page.model, *opens, leave, window), refusal=NOT_DONE)
    drops.chosen.connect(show_session)
    live.parts.shares.keepRequested.connect(page.choose_shares)


def _add_model_runs(core: WindowCore, parts: WindowParts) -> None:
    """Evaluations and predictions, which stand on the page of the run whose model they take."""
    add, session, control, window = parts.add, core.session, core.control, core.window
    live = core.live_page
    followed = {}
    for page in (live.evaluations, live.predictions):
        runs = add(ModelRuns(page, live, control, session, window), refusal=NOT_DONE)
        add(ExamplesBinding(page.panel, runs, window))
        runs.copyRequested.connect(parts[ExportBinding].save_predictions)
        page.pageRequested.connect(parts[OpenedRuns].open)
        followed[page.task] = runs
    add(ValidationExamples(control, live.evaluations, window), refusal=NOT_DONE)
    add(SinglePredictions(session, control, live, core.questions, window), refusal=NOT_DONE)
    use = ModelUse(session, core.profiles, control, live, followed, core.questions, window)
    add(use, refusal=_NOT_BEGUN).used.connect(core.tabs.show_session)
