"""A line of megabytes hides nothing that stands behind it, and one without end takes no memory."""

from pathlib import Path

import pytest

from gpupanel.domain.events import (
    EvaluationDone,
    RunEnded,
    UnknownEvent,
    encode_event,
)
from gpupanel.domain.outcome import Metrics, Outcome
from gpupanel.domain.problem import Problem
from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.directory import tails
from gpupanel.runs.directory.tails import LineTail
from gpupanel.runs.following.confusion_matrix import ConfusionMatrix, read_matrix
from gpupanel.runs.following.follower import RunFollower
from gpupanel.runs.following.status import RunStatus
from gpupanel.runs.history.curves import CurveReader
from gpupanel.runs.history.summaries import summarize_run
from tests.fakes.run_directory import STARTED_S, WrittenRun

MIB = 2**20


def test_that_a_line_longer_than_one_read_is_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_bytes(b"one\n" + b"x" * 3 * MIB + b"\nthree\nfo")
    tail = LineTail(path)

    got = tail.read()
    while tail.has_more:
        got += tail.read()

    assert [len(line) for line in got] == [3, 3 * MIB, 5]
    assert tail.place.offset == path.stat().st_size - 2


@pytest.mark.parametrize("read_bytes", [7, 64, 1_000, 10_000])
def test_that_a_line_without_end_is_passed_over_and_shown_as_unreadable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, read_bytes: int
) -> None:
    monkeypatch.setattr(tails, "LONGEST_LINE_BYTES", 5_000)
    path = tmp_path / "lines"
    path.write_bytes(b"one\n")
    tail, got = LineTail(path, read_bytes), []

    def read() -> None:
        got.extend(tail.read())
        while tail.has_more:
            got.extend(tail.read())
        assert sum(map(len, tail._halves)) <= 5_000 + read_bytes

    with path.open("ab", buffering=0) as file:
        for part in (b"two\n{" + b"x" * 9_000, b"x" * 20_000, b"y" * 70 + b"\nthree\nfo", b"ur\n"):
            file.write(part)
            read()
            # Whoever goes on from there reads no half of a line as one.
            whole = path.read_bytes()[: tail.place.offset]
            assert whole == b"" or whole.endswith(b"\n")

    assert [line for line in got if b"x" not in line] == [b"one", b"two", b"three", b"four"]
    (shown,) = [line for line in got if b"x" in line]
    assert shown.startswith(b"{xx")
    # Where the rest came with its end in one read it costs nothing to give all of that.
    assert len(shown) == 200


def old_evaluation(classes: int) -> EvaluationDone:
    row = (0,) * (classes - 1)
    counts = tuple((*row[:number], 3, *row[number:]) for number in range(classes))
    return EvaluationDone(
        time_s=STARTED_S + 1,
        examples=3 * classes,
        metrics=Metrics(loss=0.1, accuracy=1.0),
        confusion=counts,
        class_names=tuple(map(str, range(classes))),
    )


def status_of(layout: RunLayout) -> RunStatus:
    follower, status, has_more = RunFollower(layout), RunStatus(), True
    while has_more:
        followed = follower.poll()
        for part in followed.parts:
            status = status.after(part)
        has_more = followed.has_more
    return status


def test_that_an_evaluation_of_a_thousand_classes_within_an_event_is_still_read(
    runs_dir: Path,
) -> None:
    with WrittenRun(runs_dir) as run:
        run.begin()
        run.step(3)
        run.write(old_evaluation(1_000))
        run.step(2)
        run.end()
    assert max(map(len, run.layout.events.read_bytes().splitlines())) > MIB

    status = status_of(run.layout)

    assert status.outcome is Outcome.COMPLETED
    assert status.unread_lines == 0
    assert status.evaluation is not None
    matrix = read_matrix(run.layout, status.evaluation)
    assert isinstance(matrix, ConfusionMatrix)
    assert (matrix.size, matrix.examples, matrix.accuracy) == (1_000, 3_000, 1.0)
    reader = CurveReader(run.layout)
    reader.read()
    while reader.has_more:
        reader.read()
    assert reader.points()["loss"].steps.tolist()[-1] == 5.0
    assert summarize_run(run.layout).outcome is Outcome.COMPLETED


def test_that_a_line_without_end_is_reported_and_the_end_of_the_run_is_found(
    runs_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tails, "LONGEST_LINE_BYTES", MIB)
    with WrittenRun(runs_dir) as run:
        run.begin()
        with run.layout.events.open("ab") as file:
            file.write(b'{"kind": "' + b"x" * 20 * MIB + b"\n")
        run.end()

    status = status_of(run.layout)

    assert status.outcome is Outcome.COMPLETED
    assert status.unread_lines == 1


@pytest.mark.parametrize("behind", [0, 10_000, 600_000])
@pytest.mark.parametrize("detail", [10, 300_000, 3 * MIB])
def test_that_the_end_of_a_run_is_found_however_long_its_last_lines_are(
    runs_dir: Path, detail: int, behind: int
) -> None:
    run = WrittenRun(runs_dir)
    run.begin()
    run.step(20)
    problem = Problem(code="user_code_failed", message="It failed.", detail="x" * detail)
    ended = RunEnded(time_s=STARTED_S + 9, outcome=Outcome.FAILED, problem=problem)
    with run.layout.events.open("a") as file:
        # As a version wrote it that did not shorten what it tells.
        file.write(ended.model_dump_json() + "\n")
        if behind:
            file.write("y" * behind + "\n")

    summary = summarize_run(run.layout)

    assert summary.outcome is Outcome.FAILED
    assert summary.problem is not None
    assert summary.problem.code == "user_code_failed"


def test_that_a_damaged_line_of_megabytes_is_one_unknown_event(runs_dir: Path) -> None:
    with WrittenRun(runs_dir) as run:
        run.begin()
        with run.layout.events.open("ab") as file:
            file.write(encode_event(old_evaluation(900)).encode()[:-5] + b"\n")
        found = RunFollower(run.layout).poll().events

    assert isinstance(found[-1], UnknownEvent)
