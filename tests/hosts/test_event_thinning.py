"""A long run's events in few lines: spikes, sums and what stands now are not lost."""

import random

import pytest

from gpupanel.domain.events import (
    EpochDone,
    Event,
    FiguresReported,
    MemoryReported,
    StepsDone,
    TimeReported,
    decode_event,
    encode_event,
)
from gpupanel.domain.outcome import Metrics
from gpupanel.domain.time_spent import ReplicaTime, TimeSpent
from gpupanel.hosts.there.thinning import EventThinning, RegularThinning

STEPS = 60_000
SPIKE_AT = 31_415


def steps_done(number: int, loss: float) -> StepsDone:
    return StepsDone(
        time_s=1e9 + number * 0.05,
        step=number + 1,
        steps=1,
        epoch=1,
        step_in_epoch=number + 1,
        examples=64,
        loss=loss,
        examples_per_second=1000.0,
    )


def course() -> list[Event]:
    """As a trainer and a program write it: steps, and now and then what else comes often."""
    noise, events = random.Random(0), list[Event]()
    for number in range(STEPS):
        time_s = 1e9 + number * 0.05
        events.append(steps_done(number, 50.0 if number == SPIKE_AT else noise.random()))
        if number % 20 == 19:
            spent = TimeSpent(seconds=1.0, host_s=0.25, replicas=(ReplicaTime(computing_s=0.5),))
            events.append(TimeReported(time_s=time_s, step=number + 1, spent=spent))
        if number % 200 == 0:
            events.append(MemoryReported(time_s=time_s, devices=()))
        if number % 7 == 0:
            figures = {"reward": 99.0 if number == 42_000 else noise.random()}
            events.append(FiguresReported(time_s=time_s, step=number, figures=figures))
        if number == 12_345:
            events.append(FiguresReported(time_s=time_s, step=number, figures={"seldom": 3.0}))
        if number % 10_000 == 9_999:
            metrics = Metrics(loss=0.5)
            events.append(
                EpochDone(time_s=time_s, epoch=1, step=number + 1, metrics=metrics, seconds=1.0)
            )
    return events


@pytest.fixture(scope="module")
def told() -> tuple[list[Event], list[Event]]:
    events = course()
    lines = [encode_event(event).encode() + b"\n" for event in events]
    # As of a run that is ten times as long.
    thinning = EventThinning(10 * sum(map(len, lines)))
    kept = b"".join(
        thinning.take(b"".join(lines[at : at + 4_000])) for at in range(0, len(lines), 4_000)
    )
    kept += thinning.rest()
    return events, [decode_event(line) for line in kept.splitlines()]


def of(events: list[Event], kind: type[Event]) -> list[Event]:
    return [event for event in events if isinstance(event, kind)]


def test_that_a_fraction_of_the_lines_is_kept_in_their_order(told):
    events, kept = told
    assert len(kept) < len(events) / 2
    assert [event.time_s for event in kept] == sorted(event.time_s for event in kept)


def test_that_a_spike_between_lines_of_other_kinds_is_kept(told):
    _, kept = told
    losses = [event.loss for event in of(kept, StepsDone)]
    assert max(losses) == 50.0


def test_that_times_add_up_to_what_they_did(told):
    events, kept = told
    before, after = of(events, TimeReported), of(kept, TimeReported)
    assert len(after) < len(before)
    assert sum(each.spent.seconds for each in after) == len(before)
    assert sum(each.spent.replicas[0].computing_s for each in after) == len(before) / 2
    assert after[-1] == before[-1]


def test_that_of_each_figure_the_greatest_and_the_last_are_kept(told):
    events, kept = told
    figures = [event.figures for event in of(kept, FiguresReported)]
    assert {"seldom": 3.0} in figures
    assert {"reward": 99.0} in figures
    assert figures[-1] == of(events, FiguresReported)[-1].figures


def test_that_where_the_run_stands_is_kept_and_at_the_end_of_each_epoch(told):
    events, kept = told
    ends = [event.step for event in of(events, EpochDone)]
    assert [event.step for event in of(kept, EpochDone)] == ends
    assert set(ends) <= {event.step for event in of(kept, StepsDone)}
    assert of(kept, StepsDone)[-1] == of(events, StepsDone)[-1]


def test_that_lines_that_cannot_be_read_are_told_as_they_are():
    broken = b'{"time_s":1.0,"kind":"time_reported","spent":[]}\n'
    figures = b'{"time_s":1.0,"kind":"figures_reported","figures":7}\n'
    block = (broken + figures) * 20_000
    thinning = EventThinning(100 * len(block))
    assert thinning.take(block) + thinning.rest() == block


def test_that_the_examples_that_predictions_speak_of_are_kept_with_every_nth_epoch():
    examples = b'{"kind":"examples","examples":["' + b"x" * 1_000 + b'"]}\n'
    epochs = [b'{"kind":"epoch","epoch":%d}\n' % epoch for epoch in range(1, 1_001)]
    lines = [examples, *epochs[:501], examples, *epochs[501:]]
    thinning = RegularThinning(20 * 2**20)
    kept = (thinning.take(b"".join(lines)) + thinning.rest()).splitlines(keepends=True)
    assert kept.count(examples) == 2
    assert kept[-1] == epochs[-1]
    assert 50 < len(kept) < 100
