"""What every test of the window gets: no screen needed, the real style, and nothing left behind."""

import os
import threading
import traceback
import weakref
from collections.abc import Callable, Iterator

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QObject, QThread, QTimer
from PySide6.QtWidgets import QApplication
from shiboken6 import isValid

from gpupanel.domain.preview import DataPreview, PreviewRequest
from gpupanel.trainer.tools.preview.preview import preview
from gpupanel.ui import device_colors, theme, window_core
from gpupanel.ui.garbage_collection import GarbageCollection
from gpupanel.ui.panels import live_panel
from gpupanel.ui.session import Session
from gpupanel.ui.workers.this_machine import ToolsHere
from gpupanel.ui.workers.worker_thread import wait_for_ending
from tests.ui.patient_bot import PatientBot

_ENDING_MS = 5_000
_LATER_MS = 600_000


@pytest.fixture(scope="session", autouse=True)
def _dressed_application(qapp: QApplication) -> None:
    theme.prepare(qapp)
    theme.follow_system(qapp)


@pytest.fixture(scope="module", autouse=True)
def _garbage_collection(_dressed_application: None) -> Iterator[GarbageCollection]:
    """Cycles are collected in the GUI thread only, as in the product: all else can crash."""
    collection = GarbageCollection()
    collection.install()
    yield collection
    collection.uninstall()


@pytest.fixture
def qtbot(qapp: QApplication, request: pytest.FixtureRequest) -> PatientBot:
    """pytest-qt's, with the patience that a busy machine needs."""
    return PatientBot(request)


@pytest.fixture(autouse=True)
def _new_device_colors() -> None:
    """Devices have the colours of a first window."""
    device_colors.known.restore({})


@pytest.fixture(autouse=True)
def _no_weights_are_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """No window of a test asks a server; a test of what is then chosen says what there is."""
    monkeypatch.setattr(ToolsHere, "pretrained_at_hand", lambda _tools: None)


@pytest.fixture
def restored_theme(qapp: QApplication) -> Iterator[None]:
    """Shows the theme of before again after a test that changed it."""
    before = theme.current()
    yield
    theme.show(qapp, before)


@pytest.fixture(scope="module")
def undressed(qapp: QApplication, _dressed_application: None) -> Iterator[None]:
    """No style sheet, with which a window takes twice the time, and no plots before they are shown.

    For files that open many windows and see what these do; how they look has tests of its own.
    """
    sheet = qapp.styleSheet()
    qapp.setStyleSheet("")
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(live_panel, "_PREPARE_AFTER_MS", _LATER_MS)
        yield
    qapp.setStyleSheet(sheet)


@pytest.fixture
def dressed(qapp: QApplication, undressed: None) -> Iterator[None]:
    """The style sheet all the same, for a test of how something looks in such a file."""
    theme.show(qapp, theme.current())
    yield
    qapp.setStyleSheet("")


@pytest.fixture
def session(qapp: QApplication) -> Iterator[Session]:
    """Knows no devices yet."""
    session = Session()
    yield session
    session.close()


@pytest.fixture
def preview_without_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Previews are made by the worker's thread: their own process takes half a second a window.

    For files that open many windows; what such a process is for has tests of its own.
    """
    monkeypatch.setattr(window_core, "preview_here", _PreviewHere())


class _PreviewHere:
    work, answer = "preview", DataPreview

    def __call__(self, request: PreviewRequest, *_: object, **__: object) -> DataPreview:
        # Augmented examples need TensorFlow, which would spoil this process for its forks.
        field = type(request.data).model_fields.get("augmentation")
        if field is None:
            return preview(request)
        plain = request.data.model_copy(update={"augmentation": field.get_default()})
        return preview(request.model_copy(update={"data": plain}))


class _StartRecorder:
    """Remembers who started timers or threads, and from which line."""

    def __init__(self, start: Callable[..., None]) -> None:
        self._start = start
        self._started: list[tuple[weakref.ref[QObject], str]] = []

    def __get__(self, instance: QObject | None, owner: type) -> Callable[..., None]:
        def start(*arguments: object) -> None:
            frames = traceback.format_stack(limit=4)[:-1]
            self._started.append((weakref.ref(instance), "".join(frames)))
            self._start(instance, *arguments)

        return self._start if instance is None else start

    def still(self, is_active: Callable[[QObject], bool]) -> list[str]:
        """Where those that still run were started."""
        alive = [(each(), where) for each, where in self._started]
        return [where for each, where in alive if each and isValid(each) and is_active(each)]


@pytest.fixture(autouse=True)
def _nothing_left_behind(
    monkeypatch: pytest.MonkeyPatch, _garbage_collection: GarbageCollection
) -> Iterator[None]:
    """Fails a test that leaves a thread, a running timer or a visible window."""
    timers, threads = _StartRecorder(QTimer.start), _StartRecorder(QThread.start)
    monkeypatch.setattr(QTimer, "start", timers)
    monkeypatch.setattr(QThread, "start", threads)
    before = set(threading.enumerate())
    yield
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    # One that was reported to end may be in the middle of a portion.
    wait_for_ending(_ENDING_MS)
    _garbage_collection.collect_due()
    left = [f"a QTimer still runs, started at\n{where}" for where in timers.still(QTimer.isActive)]
    left += [
        f"a QThread still runs, started at\n{where}" for where in threads.still(QThread.isRunning)
    ]
    left += [
        f"{thread} still runs"
        for thread in set(threading.enumerate()) - before
        # Python's own record of a QThread that ran Python code; the QThread is checked above.
        if not isinstance(thread, threading._DummyThread)
    ]
    left += [
        f"{each} is still shown" for each in QApplication.topLevelWidgets() if each.isVisible()
    ]
    assert not left, "\n".join(left)
