"""Cycles of Python objects are collected in the GUI thread only."""

import gc
import threading
import weakref

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from gpupanel.ui.garbage_collection import GarbageCollection


class _Cyclic(QWidget):
    """Only a collection of cycles can destroy it."""

    def __init__(self, destroyed_in: list[int]) -> None:
        super().__init__()
        self.itself = self
        self.destroyed.connect(
            lambda: destroyed_in.append(threading.get_ident()), Qt.ConnectionType.DirectConnection
        )


class _Cycle:
    def __init__(self) -> None:
        self.itself = self


def _allocate() -> None:
    """Enough for a collection of each generation, where Python collects by itself."""
    for _ in range(3):
        _kept = [[] for _ in range(gc.get_threshold()[0] * gc.get_threshold()[1] * 12)]


@pytest.fixture
def collection(qtbot: QtBot):
    installed = GarbageCollection()
    installed.install()
    yield installed
    installed.uninstall()


def test_that_a_widget_in_a_cycle_is_destroyed_in_the_gui_thread_however_others_allocate(
    qtbot: QtBot, collection: GarbageCollection
) -> None:
    destroyed_in: list[int] = []
    _Cyclic(destroyed_in)

    thread = threading.Thread(target=_allocate)
    thread.start()
    thread.join()
    assert destroyed_in == []

    _allocate()
    qtbot.waitUntil(lambda: bool(destroyed_in), timeout=10_000)
    assert destroyed_in == [threading.get_ident()]


def test_that_cycles_do_not_pile_up(qtbot: QtBot, collection: GarbageCollection) -> None:
    alive = weakref.WeakSet(_Cycle() for _ in range(10_000))

    qtbot.waitUntil(lambda: not alive, timeout=10_000)


def test_that_nothing_is_collected_before_it_is_due(
    qtbot: QtBot, collection: GarbageCollection
) -> None:
    gc.collect()
    alive = weakref.WeakSet([_Cycle()])

    collection.collect_due()

    assert len(alive) == 1


def test_that_python_collects_by_itself_again_after_the_window(qtbot: QtBot) -> None:
    before = gc.isenabled()
    collection = GarbageCollection()
    gc.enable()
    try:
        collection.install()
        assert not gc.isenabled()

        alive = weakref.WeakSet([_Cycle()])
        collection.uninstall()

        assert gc.isenabled()
        assert not alive
    finally:
        if not before:
            gc.disable()


def test_that_what_was_there_before_the_window_is_not_searched(
    qtbot: QtBot, collection: GarbageCollection
) -> None:
    collection.uninstall()
    before = _Cycle()
    collection.install()
    assert not any(each is before for each in gc.get_objects())


def test_that_what_lives_long_is_searched_again_only_where_it_has_grown(
    qtbot: QtBot, collection: GarbageCollection, monkeypatch: pytest.MonkeyPatch
) -> None:
    searched: list[int] = []
    collect = gc.collect

    def noted(generation: int = 2) -> int:
        searched.append(generation)
        return collect(generation)

    monkeypatch.setattr(gc, "get_count", lambda: (0, 0, 1_000))
    monkeypatch.setattr(gc, "collect", noted)
    collection.collect_due()
    collection.collect_due()
    kept = [[each] for each in range(len(gc.get_objects()))]
    collect(1)
    collection.collect_due()
    assert searched == [2, 1, 2]
    assert kept
