"""A child that answers one question."""

import errno
import os
import signal
import sys
import tempfile
import threading
import time
from contextlib import suppress

import psutil
import pytest

from gpupanel.devices import child_process
from gpupanel.devices.child_process import ChildEnd, ask_child


def _python(code: str) -> tuple[str, ...]:
    return (sys.executable, "-c", code)


def test_that_output_exit_code_and_log_are_kept_apart() -> None:
    answer = ask_child(
        _python("import sys; print('answer'); print('log', file=sys.stderr); sys.exit(3)"), 30.0
    )

    assert answer.end is ChildEnd.BY_ITSELF
    assert answer.output == b"answer\n"
    assert answer.exit_code == 3
    assert answer.log == "log\n"


def test_that_a_large_answer_arrives_whole() -> None:
    answer = ask_child(_python("print('x' * 3_000_000)"), 30.0)

    assert len(answer.output) == 3_000_001


@pytest.mark.parametrize("stream", [1, 2])
def test_that_a_child_that_writes_without_end_is_killed(
    monkeypatch: pytest.MonkeyPatch, stream: int
) -> None:
    monkeypatch.setattr(child_process, "MOST_OUTPUT_BYTES", 1_000_000)

    answer = ask_child(_python(f"import os\nwhile True: os.write({stream}, b'x' * 9999)"), 30.0)

    assert answer.end is ChildEnd.BY_ITSELF
    assert answer.exit_code == -signal.SIGKILL
    assert len(answer.output) <= 1_000_000


def test_that_a_child_that_became_another_user_gives_its_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(_group: int, _signal: int) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "killpg", refuse)

    assert ask_child(_python("print('answer')"), 30.0).output == b"answer\n"


def test_that_a_disk_without_room_costs_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", "/dev/null/nowhere")

    assert ask_child(_python("print(input())"), 30.0, question=b"asked").output == b"asked\n"


def test_that_what_a_child_has_started_and_left_is_ended() -> None:
    answer = ask_child(("sh", "-c", "sleep 60 >/dev/null & echo $!"), 30.0)

    left = int(answer.output)
    end_s = time.monotonic() + 10.0
    with suppress(psutil.NoSuchProcess):
        while psutil.Process(left).status() != psutil.STATUS_ZOMBIE:
            assert time.monotonic() < end_s
            time.sleep(0.01)


def test_that_a_child_that_goes_mad_fills_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child_process, "MOST_OUTPUT_BYTES", 5)
    monkeypatch.setattr(child_process, "_MOST_LOG_BYTES", 4)

    answer = ask_child(_python("import sys; print('answer'); print('log', file=sys.stderr)"), 30.0)

    assert answer.output == b"answe"
    assert answer.log == "log\n"


def test_that_a_question_of_any_size_is_read_or_not() -> None:
    question = b"x" * 3_000_000

    answer = ask_child(_python("import sys; print(len(sys.stdin.read()))"), 30.0, question=question)
    assert answer.output == b"3000000\n"

    answer = ask_child(_python("print('no need')"), 30.0, question=question)
    assert answer.output == b"no need\n"


def test_that_a_child_that_does_not_read_its_question_is_ended_in_time() -> None:
    sleep = _python("import time; time.sleep(60)")

    answer = ask_child(sleep, 0.5, question=b"x" * 3_000_000)

    assert answer.end is ChildEnd.TIME_WAS_UP


def test_that_the_child_gets_variables_besides_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OF_OURS", "1")

    answer = ask_child(
        _python("import os; print(os.environ['OF_OURS'], os.environ['ADDED'])"),
        30.0,
        environment={"ADDED": "2"},
    )

    assert answer.output == b"1 2\n"


def test_that_a_child_is_ended_from_another_thread() -> None:
    cancelled = threading.Event()
    timer = threading.Timer(0.3, cancelled.set)
    timer.start()
    started = time.monotonic()

    answer = ask_child(_python("import time; time.sleep(60)"), 50.0, cancelled)
    timer.join()

    assert answer.end is ChildEnd.CANCELLED
    assert answer.exit_code is None
    assert time.monotonic() - started < 5.0


def test_that_a_command_that_is_not_there_is_reported() -> None:
    with pytest.raises(FileNotFoundError):
        ask_child(("/no/such/command",), 1.0)


def test_that_output_is_heard_while_the_child_works() -> None:
    heard: list[bytes] = []
    go_on = threading.Event()

    def hear(piece: bytes) -> None:
        heard.append(piece)
        go_on.set()

    code = "import time; print('first', flush=True); time.sleep(0.3); print('second')"
    answer = ask_child(_python(code), 30.0, on_output=hear)

    assert heard == [b"first\n", b"second\n"]
    assert answer.output == b"first\nsecond\n"


@pytest.mark.parametrize("is_cancelled", [False, True])
def test_that_a_child_that_writes_faster_than_it_is_heard_is_ended_in_time(
    is_cancelled: bool,
) -> None:
    cancelled = threading.Event()

    def hear(_: bytes) -> None:
        time.sleep(0.01)
        if is_cancelled:
            cancelled.set()

    began_s = time.monotonic()
    answer = ask_child(("yes",), 30.0 if is_cancelled else 0.5, cancelled, on_output=hear)

    assert answer.end is (ChildEnd.CANCELLED if is_cancelled else ChildEnd.TIME_WAS_UP)
    assert time.monotonic() - began_s < 10.0


def test_that_a_child_that_is_not_wanted_any_more_may_clear_away() -> None:
    cancelled = threading.Event()
    code = (
        "import signal, sys, time\n"
        "signal.signal(signal.SIGTERM, lambda *_: sys.exit(print('cleared', file=sys.stderr)))\n"
        "print('ready', flush=True); time.sleep(60)"
    )
    began_s = time.monotonic()
    answer = ask_child(
        _python(code), 30.0, cancelled, on_output=lambda _: cancelled.set(), grace_s=10.0
    )

    assert answer.end is ChildEnd.CANCELLED
    assert answer.log == "cleared\n"
    assert time.monotonic() - began_s < 10.0
