"""Whatever a worker raises is reported, and leaves the window as one can go on with it."""

import errno
import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from threading import Event
from types import SimpleNamespace

import pytest
from PySide6.QtCore import QMetaMethod, QObject, QThread, SignalInstance
from PySide6.QtWidgets import QPushButton

from gpupanel.domain.asked_prediction import PredictionAnswer, PredictionAsked
from gpupanel.domain.gpu_support import GpuSupport
from gpupanel.domain.model import SavedModel
from gpupanel.domain.preview import DataPreview
from gpupanel.domain.previewed_profile import preview_request
from gpupanel.domain.problem import Problem
from gpupanel.domain.profile import DeviceSettings, Profile
from gpupanel.domain.sweep import SweepSettings
from gpupanel.domain.telemetry import DeviceProcess
from gpupanel.planning.prepare import prepare
from gpupanel.runs import user_queue, user_sweeps
from gpupanel.runs.history import curve_table
from gpupanel.runs.history.label import RunLabel
from gpupanel.runs.history.restoring import BinnedRun
from gpupanel.runs.history.summaries import summarize_run
from gpupanel.runs.questions.data_preview import preview_data
from gpupanel.runs.questions.question import Question, Reply
from gpupanel.runs.sweeps import starting
from gpupanel.runs.tensorboard import TensorBoards
from gpupanel.runs.tools.prediction.predictor import Predictor
from gpupanel.ui import tools, workers
from gpupanel.ui.bindings.comparison import Comparison
from gpupanel.ui.run_state import RunState
from gpupanel.ui.workers import (
    cluster_worker,
    comparison_worker,
    curve_table_worker,
    device_worker,
    doctor_worker,
    ending_worker,
    folder_worker,
    gpu_support_worker,
    history_worker,
    host_folders,
    launch_worker,
    prediction_worker,
    queue_worker,
    run_reader,
    run_worker,
    sweep_start_worker,
    sweep_worker,
    tensorboard_worker,
    this_machine,
    tool_worker,
)
from gpupanel.ui.workers.facade import WorkerFacade
from gpupanel.ui.workers.single_request import SingleRequestFacade
from gpupanel.ui.workers.worker_thread import Worker, WorkerThread
from tests.fakes.clusters import RecordedCluster, cluster_node, cluster_of
from tests.fakes.devices import CPU_ONLY, TWO_UNEQUAL
from tests.fakes.person import Person
from tests.fakes.run_directory import WrittenRun
from tests.ui.new_window import new_window

pytestmark = pytest.mark.usefixtures("preview_without_process", "undressed")

ERRORS = (
    MemoryError(),
    RuntimeError("what nobody foresaw"),
    BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable"),
)


class _Failing:
    """Raises that, as often as it is called, until it is mended."""

    def __init__(self, error: Exception, healthy: Callable[..., object]) -> None:
        self._error, self._healthy = error, healthy
        self.is_broken = True

    def __call__(self, *arguments: object, **named: object) -> object:
        if self.is_broken:
            raise self._error
        return self._healthy(*arguments, **named)


@dataclass
class Case:
    """One thing that a worker does.

    Attributes:
        facade: What stands before the worker.
        order: Lets the worker do it.
        reported: Why it was not done: a problem, or a tuple of them.
        done: It was done.
        is_free: Whether the facade waits for nothing.
        failing: What the worker calls.
    """

    facade: QObject
    order: Callable[[], object]
    reported: SignalInstance
    done: SignalInstance
    failing: _Failing
    is_free: Callable[[], bool] = field(default=lambda: True)


Make = Callable[[Exception, Path, pytest.MonkeyPatch], Case]


def _written(runs_dir: Path) -> WrittenRun:
    with WrittenRun(runs_dir) as run:
        run.begin()
        run.step(3)
        run.end()
    return run


def _patched(
    monkeypatch: pytest.MonkeyPatch, module: object, name: str, error: Exception
) -> _Failing:
    failing = _Failing(error, getattr(module, name))
    monkeypatch.setattr(module, name, failing)
    return failing


def _plan() -> object:
    return prepare(Profile(), CPU_ONLY).plan


def _asking_about_gpus(error: Exception, _runs: Path, monkeypatch: pytest.MonkeyPatch) -> Case:
    monkeypatch.setattr(gpu_support_worker, "DELAY_MS", 0)
    failing = _Failing(error, lambda _question, _cancelled: GpuSupport())
    loader = gpu_support_worker.GpuSupportLoader(failing, lambda _question: None)

    def order() -> None:
        loader.set_gpus(TWO_UNEQUAL.gpus, TWO_UNEQUAL.driver)
        loader.ask_again()

    return Case(
        loader, order, loader.refused, loader.answered, failing, lambda: not loader._is_busy
    )


def _looking_at_the_folder(error: Exception, runs: Path, _patch: pytest.MonkeyPatch) -> Case:
    failing = _Failing(error, lambda _folder: None)
    watch = folder_worker.FolderWatch(runs, failing)
    return Case(watch, watch.look, watch.found, watch.found, failing)


def _listing_a_folder_of_a_host(
    error: Exception, _runs: Path, monkeypatch: pytest.MonkeyPatch
) -> Case:
    failing = _Failing(error, lambda path: path)
    host = SimpleNamespace(host="lab", files=SimpleNamespace(folder=failing))
    monkeypatch.setattr(host_folders, "other_machine", lambda: host)
    folders = host_folders.HostFolders()
    return Case(folders, lambda: folders.list("/"), folders.refused, folders.listed, failing)


def _comparing(error: Exception, runs: Path, monkeypatch: pytest.MonkeyPatch) -> Case:
    summary = summarize_run(_written(runs).layout)
    failing = _patched(monkeypatch, comparison_worker, "differences", error)
    comparison = comparison_worker.RunComparison()
    order = lambda: comparison.begin((summary, summary))  # noqa: E731
    return Case(comparison, order, comparison.refused, comparison.differencesFound, failing)


def _writing_a_table(error: Exception, runs: Path, monkeypatch: pytest.MonkeyPatch) -> Case:
    layout = _written(runs).layout
    failing = _patched(monkeypatch, curve_table, "write_curve_table", error)
    writer = curve_table_worker.CurveTableWriter()
    order = lambda: writer.write(runs / "curves.csv", (layout,))  # noqa: E731
    return Case(writer, order, writer.refused, writer.written, failing)


def _proposing_a_sweep(error: Exception, runs: Path, monkeypatch: pytest.MonkeyPatch) -> Case:
    failing = _patched(monkeypatch, sweep_start_worker, "propose_sweep", error)
    starter = sweep_start_worker.SweepStarter(runs)
    order = lambda: starter.propose(Profile())  # noqa: E731
    return Case(starter, order, starter.refused, starter.proposed, failing)


def _starting_a_sweep(error: Exception, runs: Path, monkeypatch: pytest.MonkeyPatch) -> Case:
    failing = _patched(monkeypatch, user_sweeps, "read_machine", error)
    monkeypatch.setattr(starting, "ensure_scheduler", lambda files: False)
    starter = sweep_start_worker.SweepStarter(runs)
    swept = SweepSettings(values={"training.epochs": (1, 2)})
    profile = Profile(devices=DeviceSettings(visible=("cpu",)), sweep=swept)
    order = lambda: starter.start(profile)  # noqa: E731
    return Case(starter, order, starter.refused, starter.started, failing)


def _reading_sweeps(error: Exception, runs: Path, monkeypatch: pytest.MonkeyPatch) -> Case:
    failing = _patched(monkeypatch, user_sweeps, "list_sweeps", error)
    reader = sweep_worker.SweepReader(runs)
    return Case(reader, lambda: reader.read(""), reader.refused, reader.found, failing)


def _reading_devices(error: Exception, _runs: Path, _patch: pytest.MonkeyPatch) -> Case:
    failing = _Failing(error, this_machine.ThisMachine().device_source)
    watch = device_worker.DeviceWatch(make_source=lambda: failing(None))
    return Case(watch, lambda: watch.start(20), watch.refused, watch.sampled, failing)


def _reading_a_cluster(error: Exception, _runs: Path, _patch: pytest.MonkeyPatch) -> Case:
    failing = _Failing(error, RecordedCluster([cluster_of(cluster_node("alpha"))]))
    watch = cluster_worker.ClusterWatch(make_source=failing)
    return Case(watch, lambda: watch.watch("auto"), watch.refused, watch.read, failing)


def _examining(error: Exception, _runs: Path, _patch: pytest.MonkeyPatch) -> Case:
    failing = _Failing(error, lambda _cancelled: "the report")
    examiner = doctor_worker.DoctorExaminer(failing)
    free = lambda: not examiner.is_busy()  # noqa: E731
    return Case(examiner, examiner.begin, examiner.refused, examiner.examined, failing, free)


def _asking(error: Exception, _runs: Path, monkeypatch: pytest.MonkeyPatch) -> Case:
    failing = _patched(monkeypatch, Question, "ask", error)
    failing._healthy = lambda *_, **__: Reply(answer=DataPreview())
    worker = tool_worker.QuestionWorker(preview_data)
    order = lambda: worker.ask(preview_request(Profile()))  # noqa: E731
    free = lambda: not worker.is_busy()  # noqa: E731
    return Case(worker, order, worker.refused, worker.answered, failing, free)


def _opening_tensorboard(error: Exception, runs: Path, _patch: pytest.MonkeyPatch) -> Case:
    boards = TensorBoards()
    boards.address_of = failing = _Failing(error, lambda *_: "http://127.0.0.1:1/")
    opener = tensorboard_worker.TensorBoardOpener(boards)
    layout = _written(runs).layout
    order = lambda: opener.open(layout)  # noqa: E731
    return Case(opener, order, opener.refused, opener.served, failing)


def _ending_a_process(error: Exception, _runs: Path, monkeypatch: pytest.MonkeyPatch) -> Case:
    from gpupanel.devices import process_ending

    failing = _Failing(error, lambda *_, **__: None)
    monkeypatch.setattr(process_ending, "end_process", failing)
    ender = ending_worker.ProcessEnder()
    process = DeviceProcess(pid=1)
    order = lambda: ender.end(process, frozenset(), by_force=False)  # noqa: E731
    return Case(ender, order, ender.refused, ender.asked, failing)


def _listing_runs(error: Exception, runs: Path, _patch: pytest.MonkeyPatch) -> Case:
    _written(runs)
    history = history_worker.RunHistory(runs)
    history._lister.list = failing = _Failing(error, history._lister.list)
    free = lambda: not history._is_reading  # noqa: E731
    return Case(history, history.refresh, history.unreadable, history.listed, failing, free)


def _naming_a_run(error: Exception, runs: Path, monkeypatch: pytest.MonkeyPatch) -> Case:
    path = _written(runs).layout.root
    failing = _patched(monkeypatch, this_machine, "change_label", error)
    history = history_worker.RunHistory(runs)
    order = lambda: history.change_label(path, RunLabel(), RunLabel(name="x"))  # noqa: E731
    return Case(history, order, history.refused, history.listed, failing)


def _restoring_a_run(error: Exception, runs: Path, monkeypatch: pytest.MonkeyPatch) -> Case:
    path = _written(runs).layout.root
    failing = _patched(monkeypatch, history_worker, "restore_run", error)
    failing._healthy = lambda _run: None
    history = history_worker.RunHistory(runs)
    order = lambda: history.restore((BinnedRun(path, path),))  # noqa: E731
    return Case(history, order, history.restored, history.restored, failing)


def _reading_settings(error: Exception, runs: Path, monkeypatch: pytest.MonkeyPatch) -> Case:
    summary = summarize_run(_written(runs).layout)
    history = history_worker.RunHistory(runs)
    reader = history._settings_reader
    failing = _Failing(error, reader.read)
    monkeypatch.setattr(type(reader), "read", lambda _self, read: failing(read))
    history._runs, history._are_settings_wanted = (summary,), True
    order = history._read_settings
    free = lambda: not history._is_reading_settings  # noqa: E731
    unread, done = history.settingsUnreadable, history.settingsRead
    return Case(history, order, unread, done, failing, free)


def _deleting_a_run(error: Exception, runs: Path, monkeypatch: pytest.MonkeyPatch) -> Case:
    path = _written(runs).layout.root
    failing = _patched(monkeypatch, this_machine, "delete_run", error)
    history = history_worker.RunHistory(runs)
    order = lambda: history.delete((path,), for_good=True)  # noqa: E731
    return Case(history, order, history.deleted, history.deleted, failing)


def _launching(error: Exception, runs: Path, monkeypatch: pytest.MonkeyPatch) -> Case:
    failing = _patched(monkeypatch, this_machine, "launch", error)
    failing._healthy = lambda *_, **_named: _written(runs).layout
    launcher = launch_worker.Launcher()
    order = lambda: launcher.launch(Profile(), _plan(), runs)  # noqa: E731
    return Case(launcher, order, launcher.refused, launcher.launched, failing)


def _resuming(error: Exception, runs: Path, monkeypatch: pytest.MonkeyPatch) -> Case:
    layout = _written(runs).layout
    failing = _patched(monkeypatch, this_machine, "resume", error)
    failing._healthy = lambda *_, **_named: None
    launcher = launch_worker.Launcher()
    order = lambda: launcher.resume(layout)  # noqa: E731
    return Case(launcher, order, launcher.refused, launcher.launched, failing)


def _queueing(error: Exception, runs: Path, monkeypatch: pytest.MonkeyPatch) -> Case:
    monkeypatch.setattr(user_queue, "ensure_scheduler", lambda _files: False)
    failing = _Failing(
        error, lambda files: files.change(lambda line: line.with_paused(paused=True))
    )
    queue = queue_worker.QueueWatch(runs / "queue")
    queue.begin()
    order = lambda: queue.set_paused(paused=False)  # noqa: E731
    monkeypatch.setattr(user_queue.orders, "go_on", failing)
    return Case(queue, order, queue.refused, queue.changed, failing)


def _following(error: Exception, runs: Path, monkeypatch: pytest.MonkeyPatch) -> Case:
    layout = _written(runs).layout
    failing = _patched(monkeypatch, run_reader.RunFollower, "poll", error)
    watch = run_worker.RunWatch(layout)
    return Case(watch, watch.start, watch.unreadable, watch.followed, failing)


def _asking_a_model(error: Exception, _runs: Path, _patch: pytest.MonkeyPatch) -> Case:
    predictor = Predictor()
    predictor.ask = failing = _Failing(error, lambda *_: PredictionAnswer())
    asker = prediction_worker.ModelAsker(predictor)
    model = SavedModel(path="/m.keras")
    asked = PredictionAsked(profile=Profile(task="predict", model=model))
    heard: list[PredictionAnswer] = []
    order = lambda: asker.ask(lambda: asked, heard.append)  # noqa: E731
    free = lambda: bool(heard) and not asker.is_busy()  # noqa: E731
    return Case(asker, order, asker.refused, asker.answered, failing, free)


CASES: dict[str, tuple[Make, ...]] = {
    "GpuSupportLoader": (_asking_about_gpus,),
    "FolderWatch": (_looking_at_the_folder,),
    "HostFolders": (_listing_a_folder_of_a_host,),
    "RunComparison": (_comparing,),
    "CurveTableWriter": (_writing_a_table,),
    "SweepReader": (_reading_sweeps,),
    "SweepStarter": (_proposing_a_sweep, _starting_a_sweep),
    "ClusterWatch": (_reading_a_cluster,),
    "DeviceWatch": (_reading_devices,),
    "DoctorExaminer": (_examining,),
    "ProcessEnder": (_ending_a_process,),
    "RunHistory": (
        _listing_runs,
        _naming_a_run,
        _restoring_a_run,
        _reading_settings,
        _deleting_a_run,
    ),
    "QuestionWorker": (_asking,),
    "ModelAsker": (_asking_a_model,),
    "Launcher": (_launching, _resuming),
    "TensorBoardOpener": (_opening_tensorboard,),
    "QueueWatch": (_queueing,),
    "RunWatch": (_following,),
}


def all_kinds(base: type[QObject]) -> set[type[QObject]]:
    """Every worker, or every facade, that the package has."""
    for folder in (workers, tools):
        for module in pkgutil.walk_packages(folder.__path__, f"{folder.__name__}."):
            importlib.import_module(module.name)
    places = (f"{workers.__name__}.", f"{tools.__name__}.")
    return {kind for kind in _below(base) if kind.__module__.startswith(places)}


def _below(base: type[QObject]) -> set[type[QObject]]:
    direct = set(base.__subclasses__())
    return direct.union(*(_below(kind) for kind in direct))


def test_that_every_facade_is_tried_here():
    facades = all_kinds(WorkerFacade) - {SingleRequestFacade, tool_worker.ToolWorker}
    assert {kind.__name__ for kind in facades} == set(CASES)


@pytest.mark.parametrize("kind", sorted(all_kinds(Worker), key=lambda kind: kind.__name__))
def test_that_every_slot_of_a_worker_reports_what_it_raises(kind):
    meta = kind.staticMetaObject
    methods = [meta.method(place) for place in range(meta.methodOffset(), meta.methodCount())]
    slots = {
        bytes(method.name()).decode()
        for method in methods
        if method.methodType() is QMetaMethod.MethodType.Slot
    } - {"close"}
    assert slots
    unguarded = {name for name in slots if not hasattr(getattr(kind, name), "__wrapped__")}
    assert not unguarded, "these are made by Slot, not by guarded_slot"


def _problems(reported: object) -> tuple[Problem, ...]:
    if isinstance(reported, history_worker.Deletion | history_worker.Restoration):
        return reported.problems
    return (reported,) if isinstance(reported, Problem) else reported


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize(
    "make", [make for several in CASES.values() for make in several], ids=lambda make: make.__name__
)
def test_that_what_a_worker_raises_is_reported_and_one_can_go_on(
    qtbot, runs_dir, monkeypatch, make, error
):
    case = make(error, runs_dir, monkeypatch)
    try:
        with qtbot.waitSignal(case.reported, timeout=10_000) as reported:
            case.order()
        problem = _problems(reported.args[0])[0]
        assert problem.message
        assert problem.code in ("unexpected_error", "process_not_started", "disk_error")
        assert case.is_free()
        case.failing.is_broken = False
        if make is _following:
            assert case.facade.is_unreadable  # it is opened anew, as RunControl offers
            return
        with qtbot.waitSignal(case.done, timeout=10_000):
            case.order()
    finally:
        case.facade.stop()


def test_that_what_is_polled_and_fails_for_the_same_reason_is_reported_once(
    qtbot, runs_dir, monkeypatch
):
    monkeypatch.setattr(queue_worker, "POLL_MS", 5)
    monkeypatch.setattr(user_queue, "ensure_scheduler", lambda _files: False)
    queue = queue_worker.QueueWatch(runs_dir / "queue")
    files = queue._keeper._queue._files
    counted = []

    def fail():
        counted.append(1)
        raise MemoryError

    files.fingerprint = fail
    reported = []
    queue.refused.connect(reported.append)
    queue.begin()
    qtbot.waitUntil(lambda: len(counted) > 20, timeout=10_000)
    queue.stop()
    assert len(reported) == 1


@pytest.fixture
def person():
    return Person()


@pytest.fixture
def window(qtbot, runs_dir, tmp_path, person):
    from PySide6.QtCore import QSettings

    settings = QSettings(str(tmp_path / "settings.ini"), QSettings.Format.IniFormat)
    window = new_window(settings, runs_dir, person)
    qtbot.addWidget(window)
    with qtbot.waitExposed(window):
        window.show()
    with qtbot.waitSignal(window.session.preparationChanged, timeout=10_000):
        window.begin()
    yield window
    window.close()


@pytest.mark.parametrize(
    "error",
    # Who takes one takes all: the others are for make test-slow.
    [ERRORS[0], *(pytest.param(error, marks=pytest.mark.slow) for error in ERRORS[1:])],
    ids=lambda error: type(error).__name__,
)
def test_that_a_start_that_fails_whatever_the_reason_leaves_start_on(
    qtbot, window, person, runs_dir, monkeypatch, error
):
    from gpupanel.runs import launcher as launching

    def fail(_layout):
        raise error

    monkeypatch.setattr(launching, "start_supervisor", fail)
    start = window.findChild(QPushButton, "start_button")
    stop = window.findChild(QPushButton, "stop_button")
    qtbot.waitUntil(start.isEnabled)
    start.click()
    stop.click()
    stop.click()
    qtbot.waitUntil(lambda: bool(person.problems), timeout=10_000)
    assert window.session.run_state is RunState.IDLE
    assert start.isEnabled()
    assert not stop.isEnabled()
    assert [each[1][0].message for each in person.problems]
    assert list(runs_dir.iterdir()) == []


def test_that_the_window_reports_what_each_of_its_facades_could_not_do(
    qtbot, window, person, runs_dir
):
    summary = summarize_run(_written(runs_dir).layout)
    window.parts[Comparison].compare((summary, summary))
    facades = window.findChildren(WorkerFacade)
    assert len(facades) >= 9
    for facade in facades:
        person.problems.clear()
        problem = Problem(code="x", message=f"{type(facade).__name__} could not do it.")
        signal = getattr(facade, "unreadable", facade.refused)
        if isinstance(facade, history_worker.RunHistory):
            signal = facade.refused
        signal.emit(problem if signal is not facade.refused else (problem,))
        assert person.problems, type(facade).__name__
        assert person.problems[-1][1] == (problem,)


class _Endless:
    """Works as long as the test wants."""

    def __init__(self):
        self.begun, self.may_end, self.done = Event(), Event(), []

    def work(self):
        self.begun.set()
        assert self.may_end.wait(20.0)

    def note(self, number):
        self.done.append(number)
        return number


@pytest.fixture
def endless():
    endless = _Endless()
    yield endless
    endless.may_end.set()


def test_that_a_thread_that_works_outlives_its_facade_and_does_all_that_was_submitted(
    qtbot, endless
):
    facade = WorkerFacade("endless")
    thread = facade._thread
    facade.submit(endless.work)
    assert endless.begun.wait(10.0)
    for number in range(100):
        facade.submit(partial(endless.note, number))
    thread.when_ended(facade.deleteLater)
    assert thread.isRunning()
    assert thread.parent() is None
    facade.submit(partial(endless.note, 100))
    endless.may_end.set()
    qtbot.waitUntil(thread.isFinished, timeout=10_000)
    assert endless.done == list(range(100))


def test_that_what_was_dropped_is_not_begun_and_nothing_is_heard_of_it(qtbot, endless):
    facade, heard = WorkerFacade("endless"), []
    refused = []
    facade.refused.connect(refused.append)
    facade.submit(endless.work, heard.append)
    assert endless.begun.wait(10.0)
    facade.submit(partial(endless.note, 1), heard.append)
    facade.drop()
    facade.submit(partial(endless.note, 2), heard.append)
    endless.may_end.set()
    qtbot.waitUntil(lambda: bool(heard), timeout=10_000)
    facade.stop()
    assert heard == endless.done == [2]
    assert refused == []


def test_that_answers_and_problems_come_in_order_and_in_the_thread_of_the_window(qtbot):
    facade, heard = WorkerFacade("ordered"), []

    def fail():
        raise RuntimeError("no")

    def hear(answer):
        heard.append((answer, QThread.currentThread()))

    facade.submit(lambda: QThread.currentThread() is facade._thread, hear)
    facade.submit(fail, hear, lambda problems: hear(problems[0].code))
    facade.submit(lambda: 3, hear)
    qtbot.waitUntil(lambda: len(heard) == 3, timeout=10_000)
    facade.stop()
    assert [answer for answer, _ in heard] == [True, "unexpected_error", 3]
    assert {thread for _, thread in heard} == {QThread.currentThread()}


def test_that_a_thread_that_was_never_started_ends_at_once(qtbot):
    owner = QObject()
    thread = WorkerThread(Worker(), "never", owner)
    done = []
    thread.when_ended(lambda: done.append(1))
    assert thread.join()
    assert done == [1]
