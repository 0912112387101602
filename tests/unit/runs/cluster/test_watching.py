"""The process that keeps asking a cluster, as the window hears it; no Ray is started."""

import sys
import time
from collections.abc import Callable

import psutil
import pytest

from gpupanel.domain.cluster import ClusterReading
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.runs.cluster import driver_process
from gpupanel.runs.cluster.messages import ClusterSeen, Refused
from gpupanel.runs.cluster.watching import ClusterWatcher
from tests.patience import PATIENCE_S

Speak = Callable[[str], None]


@pytest.fixture
def speak(monkeypatch: pytest.MonkeyPatch) -> Speak:
    """Have the process say these lines after its order, and do nothing more until it is ended."""

    def as_driver(lines: str, then: str = "sys.stdin.read()") -> None:
        program = f"import sys, time; sys.stdin.readline(); print({lines!r}, flush=True); {then}"
        command = (sys.executable, "-c", program)
        monkeypatch.setattr(driver_process, "DRIVER", command)

    return as_driver


def _seen(address: str) -> str:
    return ClusterSeen(reading=ClusterReading(address=address)).model_dump_json()


def _reading(watcher: ClusterWatcher) -> ClusterReading:
    until_s = time.monotonic() + PATIENCE_S
    while time.monotonic() < until_s:
        found = watcher.reading()
        if found is not None:
            return found
        time.sleep(0.01)
    raise AssertionError("no reading")


def _problem(watcher: ClusterWatcher) -> Problem:
    with pytest.raises(ProblemError) as raised:
        _reading(watcher)
    return raised.value.problems[0]


def test_that_the_newest_reading_counts_and_lines_that_are_no_words_do_not(speak: Speak) -> None:
    speak("\n".join((_seen("old:1"), "no word", '{"kind": "cluster"}', _seen("new:1"))))
    with ClusterWatcher("auto") as watcher:
        time.sleep(0.5)
        assert _reading(watcher).address == "new:1"
        assert watcher.reading() is None


def test_that_a_line_without_an_end_is_no_word_and_takes_no_memory(
    speak: Speak, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver_process, "_MOST_LINE_BYTES", 1000)
    smuggled = "[" * 1000 + _seen("smuggled:1")
    speak("\n".join((_seen("well:1"), "[" * 2500 + "\x1b[2J", smuggled, _seen("x" * 2000))))
    with ClusterWatcher("auto") as watcher:
        time.sleep(0.5)
        assert _reading(watcher).address == "well:1"
        assert watcher.reading() is None


def test_that_what_the_process_refuses_is_raised(speak: Speak) -> None:
    problem = Problem(code="cluster_not_found", message="No answer.")
    speak(Refused(problem=problem).model_dump_json())
    with ClusterWatcher("auto") as watcher:
        assert _problem(watcher) == problem


def test_that_the_end_of_the_process_is_a_problem_once_its_last_word_was_heard(
    speak: Speak,
) -> None:
    speak(_seen("last:1"), then="sys.exit(1)")
    with ClusterWatcher("auto") as watcher:
        assert _reading(watcher).address == "last:1"
        assert _problem(watcher).code == "cluster_died"


def test_that_a_cluster_that_falls_silent_is_a_problem(speak: Speak) -> None:
    speak(_seen("once:1"))
    with ClusterWatcher("auto", silent_s=0.2) as watcher:
        assert _reading(watcher).address == "once:1"
        assert _problem(watcher).code == "cluster_too_slow"


def test_that_a_cluster_that_never_answers_is_a_problem(speak: Speak) -> None:
    speak("")
    with ClusterWatcher("auto", first_s=0.2) as watcher:
        assert _problem(watcher).code == "cluster_too_slow"


def test_that_a_process_that_hangs_is_ended_within_a_second(speak: Speak) -> None:
    speak("", then="time.sleep(600)")
    watcher = ClusterWatcher("auto")
    pid = watcher._driver._process.pid
    begun_s = time.monotonic()
    watcher.close()
    assert time.monotonic() - begun_s < 5.0
    assert not psutil.pid_exists(pid)


def test_that_an_address_that_is_none_starts_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(driver_process, "DRIVER", ("/nowhere",))
    with pytest.raises(ProblemError) as raised:
        ClusterWatcher("ray://nobody")
    assert raised.value.problems[0].code == "cluster_address_wrong"


def test_that_a_process_that_cannot_be_started_is_a_problem(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(driver_process, "DRIVER", ("/nowhere",))
    with pytest.raises(ProblemError) as raised:
        ClusterWatcher("auto")
    assert raised.value.problems[0].code == "cluster_not_started"
