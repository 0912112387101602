"""A long history is read by a process of its own, and says what it says when it is read here."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from gpupanel.domain import events
from gpupanel.domain.events import Event, StepsDone, encode_event
from gpupanel.runs.following import event_tail
from gpupanel.runs.following.event_tail import EventTail, Part
from gpupanel.runs.following.steps import StepBatch
from tests.forked.processes import child_processes

PORTION_BYTES = 2**20
STEP = StepsDone(
    time_s=5.5,
    step=3,
    steps=1,
    epoch=1,
    step_in_epoch=3,
    examples=8,
    loss=0.5,
    accuracy=0.25,
    examples_per_second=9.0,
)
BATCH = "".join(
    encode_event(STEP.model_copy(update={"step": step})) + "\n" for step in range(2_000)
)
OTHERS = (
    encode_event(events.PhaseChanged(time_s=2.0, phase=events.Phase.TRAINING)) + "\n"
    '{"kind":"steps_done"}\n\n'
    '{"kind":"from a newer version"}\n'
)
MANY = (BATCH + OTHERS).encode()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "events.jsonl"
    path.write_bytes(MANY * (10 * PORTION_BYTES // len(MANY)))
    return path


@pytest.fixture
def aside(path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[EventTail]:
    monkeypatch.setattr(event_tail, "LONG_BYTES", PORTION_BYTES)
    monkeypatch.setattr(event_tail, "PORTION_BYTES_ASIDE", PORTION_BYTES)
    tail = EventTail(path, reads_aside=True)
    yield tail
    tail.close()
    assert not child_processes()


Told = list[Event | tuple[str, ...]]


def all_of(tail: EventTail) -> Told:
    told = one_by_one(tail.read())
    while tail.has_more:
        told += one_by_one(tail.read())
    return told


def one_by_one(parts: tuple[Part, ...]) -> Told:
    """Events, and of steps what their columns say."""
    told: Told = []
    for part in parts:
        if isinstance(part, StepBatch):
            told += columns(part)
        else:
            told.append(part)
    return told


def columns(steps: StepBatch) -> list[tuple[str, ...]]:
    assert (steps.first.step, steps.last.step) == (steps.step[0], steps.step[-1])
    numbers = (steps.time_s, steps.step, *steps.metrics.values())
    return [tuple(map(str, row)) for row in zip(*numbers, strict=True)]  # nan is nan


def test_that_it_says_the_same_and_goes_on_live(aside: EventTail, path: Path) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(encode_event(STEP)[:20])
    aside.begin()
    assert len(child_processes()) == 1

    told = all_of(aside)

    assert told == all_of(EventTail(path))
    assert len(told) > 30_000
    assert not child_processes()
    with path.open("a", encoding="utf-8") as file:
        file.write(encode_event(STEP)[20:] + "\n")
    assert one_by_one(aside.read()) == columns(StepBatch.of([STEP]))


def test_that_a_reader_that_dies_loses_nothing_and_repeats_nothing(
    aside: EventTail, path: Path
) -> None:
    told = one_by_one(aside.read())
    (reader,) = child_processes()
    reader.kill()

    told += all_of(aside)

    assert told == all_of(EventTail(path))


def test_that_a_reader_that_cannot_be_started_is_done_without(
    aside: EventTail, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/nowhere/python")

    assert all_of(aside) == all_of(EventTail(path))


def test_that_a_file_begun_anew_meanwhile_is_read_from_its_start(
    aside: EventTail, path: Path
) -> None:
    aside.read()
    path.unlink()
    path.write_text(encode_event(STEP) + "\n")

    told = all_of(aside) + one_by_one(aside.read())

    assert told[-1:] == columns(StepBatch.of([STEP]))
    assert one_by_one(aside.read()) == []


def test_that_a_short_history_is_read_here(path: Path) -> None:
    tail = EventTail(path, reads_aside=True)
    tail.begin()

    assert not child_processes()
    assert all_of(tail)


def test_that_no_history_is_read_here_once_it_begins(tmp_path: Path) -> None:
    tail = EventTail(tmp_path / "events.jsonl", reads_aside=True)
    assert tail.read() == ()
    (tmp_path / "events.jsonl").write_text(encode_event(STEP) + "\n")

    assert one_by_one(tail.read()) == columns(StepBatch.of([STEP]))


def test_that_a_reader_ends_with_whoever_asked_though_that_is_killed(path: Path) -> None:
    asking = (
        "import sys, time\n"
        "from pathlib import Path\n"
        "from gpupanel.runs.following.event_tail import HistoryReader\n"
        "reader = HistoryReader(Path(sys.argv[1]), 10**9, 2**20)\n"
        "reader.read()\n"
        "print(reader._process.pid, flush=True)\n"
        "time.sleep(60)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", asking, path], stdout=subprocess.PIPE, text=True
    ) as asker:
        assert asker.stdout is not None
        reader = psutil.Process(int(asker.stdout.readline()))
        os.kill(asker.pid, signal.SIGKILL)

    reader.wait(5.0)


def test_that_steps_read_aside_cannot_be_had_one_by_one(aside: EventTail) -> None:
    steps = aside.read()[0]
    assert isinstance(steps, StepBatch)
    assert steps.first == STEP.model_copy(update={"step": 0})
    with pytest.raises(ValueError, match="only the columns"):
        list(steps)
