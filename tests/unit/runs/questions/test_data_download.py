"""The process that downloads a data set: it is heard as it works, whatever becomes of it."""

import threading
from dataclasses import replace
from pathlib import Path

from gpupanel.domain.data import ImagesData, KerasData
from gpupanel.domain.data_download import DownloadEnd, DownloadRequest
from gpupanel.runs.questions.data_download import download_data
from tests.fakes.questions import asked_of

_REQUEST = DownloadRequest(data=KerasData(source="mnist"))
_PROGRESS = '{"progress": {"done": 3, "total": 9}}'
_END = '{"end": {"problems": []}}'


def answered(
    code: str, cancelled: threading.Event | None = None
) -> tuple[DownloadEnd, list[tuple[int, int | None]]]:
    heard: list[tuple[int, int | None]] = []
    end = asked_of(download_data, f"import sys, time, os, signal, pathlib\n{code}")(
        _REQUEST,
        cancelled=cancelled,
        on_progress=lambda progress: heard.append((progress.done, progress.total)),
    )
    return end, heard


def test_that_progress_and_end_are_heard() -> None:
    end, heard = answered(f"print('{_PROGRESS}'); print('{_END}')")
    assert end == DownloadEnd()
    assert heard == [(3, 9)]


def test_that_one_that_is_cancelled_may_clear_up_and_ends_without_a_word(tmp_path: Path) -> None:
    cancelled, gone = threading.Event(), tmp_path / "gone"
    code = (
        f"signal.signal(signal.SIGTERM, lambda *_: (pathlib.Path({str(gone)!r}).touch(),"
        " sys.exit(1)))\n"
        f"print('{_PROGRESS}', flush=True)\n"
        "time.sleep(60)"
    )
    heard = []
    end = asked_of(download_data, f"import sys, time, signal, pathlib\n{code}")(
        _REQUEST,
        cancelled=cancelled,
        on_progress=lambda progress: (heard.append(progress), cancelled.set()),
    )
    assert end == DownloadEnd()
    assert gone.exists()


def test_that_a_death_and_a_strange_answer_are_problems() -> None:
    for code, words in (
        ("os.kill(os.getpid(), 9)", "was killed"),
        ("sys.stderr.write('boom'); sys.exit(3)", "ended with exit status 3"),
        ("print('nonsense')", "unreadable answer"),
        ("print('{\"end\": 3}')", "unreadable answer"),
    ):
        end, _ = answered(code)
        (problem,) = end.problems
        assert words in problem.message


def test_that_a_command_that_is_not_there_is_a_problem() -> None:
    end = replace(download_data, command=("/no/such/command",))(_REQUEST)
    assert "could not be started" in end.problems[0].message


def test_that_a_path_that_is_no_text_reaches_the_process() -> None:
    request = DownloadRequest(data=ImagesData(path="/pictures/\udcff"))
    code = f"import sys; assert 'udcff' in sys.stdin.read(); print('{_END}')"
    assert asked_of(download_data, code)(request) == DownloadEnd()
