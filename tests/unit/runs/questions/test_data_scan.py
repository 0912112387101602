"""The process that looks through data: it is heard as it writes, whatever becomes of it."""

import threading
from dataclasses import replace

import pytest

from gpupanel.domain.data import DigitsData
from gpupanel.domain.scan import DataScan, ScanRequest
from gpupanel.runs.questions.data_scan import scan_data
from tests.fakes.questions import asked_of

_LOOK = '{"first": {"described": "first", "sets": []}}'
_SCAN = '{"scan": {"described": "all", "is_complete": true}}'


def answered(code: str, cancelled: threading.Event | None = None) -> tuple[DataScan, list, list]:
    heard, looks = [], []
    asked = asked_of(scan_data, f"import sys, time, os\n{code}")

    def hear(news: object) -> None:
        (looks if isinstance(news, DataScan) else heard).append(news)

    found = asked(ScanRequest(data=DigitsData()), cancelled=cancelled, on_progress=hear)
    return found, heard, looks


def test_that_progress_first_look_and_report_are_heard() -> None:
    progress = '{"progress": {"doing": "reading", "done": 3, "total": 9}}'
    found, heard, looks = answered(f"print('''{progress}\\n{_LOOK}\\n{_SCAN}''')")
    assert found == DataScan(described="all", is_complete=True)
    assert [(each.doing, each.done, each.total) for each in heard] == [("reading", 3, 9)]
    assert [each.described for each in looks] == ["first"]


def test_that_what_comes_is_heard_while_the_process_works() -> None:
    cancelled = threading.Event()
    found, _, looks = answered(
        f"sys.stdout.write('''{_LOOK[:9]}'''); sys.stdout.flush(); time.sleep(0.1)\n"
        f"print('''{_LOOK[9:]}''', flush=True); time.sleep(0.2)\n"
        f"print('''{_SCAN}''')",
        cancelled,
    )
    assert [each.described for each in looks] == ["first"]
    assert found.is_complete


def test_that_one_that_is_cancelled_is_what_was_known(tmp_path) -> None:
    cancelled, looks = threading.Event(), []

    def look(found: DataScan) -> None:
        looks.append(found)
        cancelled.set()

    code = (
        "import signal, sys, time, pathlib\n"
        "def leave(*_):\n"
        f"    pathlib.Path({str(tmp_path / 'gone')!r}).touch(); sys.exit(1)\n"
        "signal.signal(signal.SIGTERM, leave)\n"
        f"print('''{_LOOK}''', flush=True); time.sleep(60)"
    )
    asked = asked_of(scan_data, code)
    found = asked(ScanRequest(data=DigitsData()), cancelled=cancelled, on_progress=look)
    assert found == looks[0]
    assert (tmp_path / "gone").exists()  # it could clear away what it had begun


def test_that_one_that_does_not_heed_it_is_killed() -> None:
    cancelled = threading.Event()
    code = (
        "import signal, time; signal.signal(15, signal.SIG_IGN)\n"
        f"print('''{_LOOK}''', flush=True); time.sleep(60)"
    )
    asked = asked_of(scan_data, code)
    request = ScanRequest(data=DigitsData())
    found = asked(request, cancelled=cancelled, on_progress=lambda _: cancelled.set())
    assert found.described == "first"


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("os.kill(os.getpid(), 9)", "scan_died"),
        ("sys.exit('no memory')", "scan_died"),
        ("print('no json')", "scan_unreadable"),
        ("pass", "scan_unreadable"),
    ],
)
def test_that_a_process_that_dies_or_babbles_is_a_problem_beside_what_was_known(
    code: str, expected: str
) -> None:
    found, _, _ = answered(f"print('''{_LOOK}''', flush=True)\n{code}")
    assert [problem.code for problem in found.problems] == [expected]
    assert found.described == "first"
    assert found.has_errors
    assert not found.is_complete


def test_that_a_command_that_is_not_there_is_a_problem() -> None:
    found = replace(scan_data, command=("/nowhere/python",))(ScanRequest(data=DigitsData()))
    assert [problem.code for problem in found.problems] == ["scan_not_started"]
