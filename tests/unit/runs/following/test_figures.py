"""Figures of programs are read in bulk, and mean the same as one by one."""

import io
from math import isnan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpupanel.domain.events import (
    MOST_FIGURES,
    EpochDone,
    FiguresReported,
    RunStarted,
    StepsDone,
    encode_event,
)
from gpupanel.domain.outcome import Metrics
from gpupanel.runs.directory.tails import Place
from gpupanel.runs.following.event_tail import decode_parts
from gpupanel.runs.following.figures import FigureBatch, PackedFigures
from gpupanel.runs.following.gathered_lines import Portion, read_portion, write_portion
from gpupanel.runs.following.status import RunStatus
from gpupanel.runs.following.steps import StepBatch

NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
COUNTS = st.none() | st.integers(0, 2**53)
EVENTS = st.lists(
    st.builds(
        FiguresReported,
        time_s=NUMBERS,
        step=COUNTS,
        epoch=COUNTS,
        figures=st.dictionaries(st.sampled_from(["a", "val_a", "ü", ""]), NUMBERS),
    ),
    min_size=1,
    max_size=8,
)


def figures(number: int, **reported: float) -> FiguresReported:
    return FiguresReported(time_s=1000.0 + number, step=number, figures=reported)


def step(number: int) -> StepsDone:
    return StepsDone(
        time_s=1000.0 + number,
        step=number,
        steps=1,
        epoch=1,
        step_in_epoch=number,
        examples=0,
        loss=1.0,
    )


def lines(*events) -> bytes:
    return b"".join(encode_event(event).encode() + b"\n" for event in events)


@given(events=EVENTS)
def test_that_a_batch_holds_the_events_that_were_written(events) -> None:
    batch = FigureBatch()
    assert batch.take(lines(*events))
    assert list(batch) == events
    assert list(FigureBatch.of(events)) == events
    assert list(FigureBatch.unpacked(batch.packed())) == events


@given(events=EVENTS)
def test_that_the_status_is_the_same_in_bulk_as_one_by_one(events) -> None:
    status = RunStatus(step=3, figures={"before": 1.0})
    assert status.after_all(events) == status.after(FigureBatch.of(events))


@pytest.mark.parametrize(
    "line",
    [
        b'{"time_s": 1.0, "kind": "figures_reported", "figures": {"a": "x"}}\n',
        b'{"time_s": 1.0, "kind": "figures_reported", "figures": {"a": 1.0}, "more": 1}\n',
        b'{"time_s": 1.0, "kind": "steps_done", "figures": {"a": 1.0}}\n',
        b'{"time_s": 1.0, "kind": "figures_reported", "figures": {"a": NaN}}\n',
        b'{"time_s": 1.0, "kind": "figures_reported", "figures": {"a": 1e999}}\n',
        b'{"time_s": 1.0, "kind": "figures_reported", "step": 1e20, "figures": {}}\n',
        b'{"time_s": 1.0, "kind": "figures_reported", "fig\n',
        b'{"time_s": 1.0, "kind": "figures_reported", "figures": {}} {}\n',
        b"\xff\n",
    ],
)
def test_that_what_is_no_such_event_is_not_taken(line: bytes) -> None:
    batch = FigureBatch()
    assert not batch.take(line)
    assert len(batch) == 0


def test_that_steps_and_figures_by_turns_are_two_values() -> None:
    events = [each for n in range(1, 50) for each in (step(n), figures(n, f1=n / 50))]
    end = EpochDone(time_s=1100.0, epoch=1, step=49, metrics=Metrics(), seconds=1.0)
    begun = RunStarted(time_s=1000.0, supervisor_pid=1)
    parts = decode_parts(lines(begun, *events, end, step(50), figures(50, f1=1.0)))
    kinds = (RunStarted, StepBatch, FigureBatch, EpochDone, StepBatch, FigureBatch)
    assert tuple(map(type, parts)) == kinds
    assert [len(parts[place]) for place in (1, 2, 4, 5)] == [49, 49, 1, 1]
    assert [*parts[1], *parts[2]] == [*events[::2], *events[1::2]]


def test_that_a_line_that_cannot_be_read_stays_where_it_was() -> None:
    odd = b'{"time_s": 1.0, "kind": "figures_reported", "figures": {"a": NaN}}\n'
    parts = decode_parts(lines(figures(1, a=1.0)) + odd + lines(figures(2, a=2.0)))
    assert [type(part).__name__ for part in parts] == ["FigureBatch", "UnknownEvent", "FigureBatch"]


def test_that_a_portion_comes_back_as_it_was_handed_over() -> None:
    steps, batch = StepBatch.of([step(1)]), FigureBatch.of([figures(1, a=1.0), figures(2, b=2.0)])
    stream = io.BytesIO()
    write_portion(Portion([b"{}", steps, batch], Place(7, (8, 9))), stream)
    stream.seek(0)
    read = read_portion(stream)
    assert read is not None
    line, read_steps, read_figures = read.parts
    assert line == b"{}"
    assert isinstance(read_steps, StepBatch)
    assert isinstance(read_figures, FigureBatch)
    assert list(read_figures) == list(batch)


@pytest.mark.parametrize(
    ("columns", "of_figures"),
    [
        ((b"", b"", b""), []),
        ((bytes(8), bytes(16), bytes(8)), []),
        ((bytes(8), bytes(8), bytes(8)), [("a", bytes(8), bytes(16))]),
        ((bytes(8), bytes(8), bytes(8)), [("a", b"\1" + bytes(7), bytes(8))]),
        ((bytes(8), bytes(8), bytes(8)), [("a", b"", b"")]),
    ],
)
def test_that_columns_that_do_not_belong_together_are_refused(columns, of_figures) -> None:
    with pytest.raises(ValueError, match="are not"):
        FigureBatch.unpacked(PackedFigures(columns, of_figures))


def test_that_a_batch_takes_as_many_figures_of_a_line_as_the_event_does() -> None:
    most = {f"figure {number}": 1.0 for number in range(MOST_FIGURES)}
    assert FigureBatch().take(lines(figures(1, **most)))
    line = lines(figures(1, **most)).replace(b'"figures":{', b'"figures":{"more":1.0,')
    assert not FigureBatch().take(line)


def test_that_what_was_said_last_counts() -> None:
    batch = FigureBatch.of([figures(7, a=1.0), figures(3, a=2.0, b=3.0)])
    assert (batch.last_step, batch.last_epoch) == (7, None)
    assert batch.last_figures == {"a": 2.0, "b": 3.0}
    unsaid = FigureBatch.of([FiguresReported(time_s=1.0, figures={})])
    assert (unsaid.last_step, len(unsaid)) == (None, 1)
    assert isnan(unsaid.step[0])
