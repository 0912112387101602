"""NVML is never shut down while a call is under way in another thread."""

import threading
from collections.abc import Iterator

import pytest

from gpupanel.devices.nvml.failures import DriverFailure, DriverGoneError
from gpupanel.devices.nvml.shutdown_guard import ShutdownGuard

LONG_S = 10.0


class Library:
    """Remembers when it was shut down and lets a call last until a test ends it."""

    def __init__(self) -> None:
        self.shut_downs = 0
        self.guard = ShutdownGuard(self.shut_down)
        self.is_inside = threading.Event()
        self.answer = threading.Event()
        self.thread = threading.Thread(target=self.call)

    def shut_down(self) -> None:
        self.shut_downs += 1

    def call(self) -> None:
        with self.guard:
            self.is_inside.set()
            self.answer.wait(LONG_S)
            assert self.shut_downs == 0


@pytest.fixture
def library() -> Iterator[Library]:
    library = Library()
    yield library
    library.answer.set()
    if library.thread.ident is not None:
        library.thread.join()


def test_that_closing_shuts_down_at_once_when_nobody_calls(library: Library) -> None:
    assert library.guard.close(wait_s=LONG_S)
    assert library.guard.close(wait_s=LONG_S)
    assert library.shut_downs == 1


def test_that_no_call_begins_after_closing(library: Library) -> None:
    library.guard.close(wait_s=0.0)

    with pytest.raises(DriverGoneError) as caught, library.guard:
        pytest.fail("it was let in")

    assert caught.value.failure is DriverFailure.NOT_INITIALIZED


def test_that_closing_waits_for_a_call_that_comes_back(library: Library) -> None:
    library.thread.start()
    library.is_inside.wait(LONG_S)
    threading.Timer(0.05, library.answer.set).start()

    assert library.guard.close(wait_s=LONG_S)
    assert library.shut_downs == 1


def test_that_a_call_that_lasts_is_not_waited_for_and_shuts_down_when_it_comes_back(
    library: Library,
) -> None:
    library.thread.start()
    library.is_inside.wait(LONG_S)

    assert not library.guard.close(wait_s=0.01)
    assert not library.guard.close(wait_s=0.01)
    assert library.shut_downs == 0
    with pytest.raises(DriverGoneError), library.guard:
        pytest.fail("it was let in")

    library.answer.set()
    library.thread.join()
    assert library.shut_downs == 1


def test_that_calls_of_several_threads_are_let_in_together(library: Library) -> None:
    library.thread.start()
    library.is_inside.wait(LONG_S)

    with library.guard:
        assert library.shut_downs == 0
    library.answer.set()
    library.thread.join()

    assert library.shut_downs == 0
