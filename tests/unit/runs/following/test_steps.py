"""Steps in bulk say the same as steps one by one."""

import json
import math
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpupanel.domain import events
from gpupanel.domain.events import Event, StepsDone, UnknownEvent, decode_event, encode_event
from gpupanel.domain.outcome import Outcome
from gpupanel.domain.problem import Problem
from gpupanel.domain.request import Request
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.telemetry import DeviceReading, TelemetrySample
from gpupanel.runs.following.event_tail import decode_parts
from gpupanel.runs.following.follower import RunFollower
from gpupanel.runs.following.readings import SampleBatch
from gpupanel.runs.following.run_clock import RunClock
from gpupanel.runs.following.status import RunStatus
from gpupanel.runs.following.steps import StepBatch

NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
COUNTS = st.integers(-(2**70), 2**70)
STEPS = st.builds(
    StepsDone,
    time_s=NUMBERS,
    step=COUNTS,
    steps=COUNTS,
    epoch=COUNTS,
    step_in_epoch=COUNTS,
    examples=COUNTS,
    loss=NUMBERS,
    accuracy=st.none() | NUMBERS,
    gradient_norm=st.none() | NUMBERS,
    examples_per_second=NUMBERS,
)
PROBLEM = Problem(code="x", message="It broke.")
OTHERS: list[Event] = [
    events.RunStarted(time_s=1.0, supervisor_pid=1),
    events.PhaseChanged(time_s=2.0, phase=events.Phase.TRAINING),
    events.RequestAnswered(time_s=3.0, request=Request.STOP),
    events.RunRestarted(time_s=4.0, attempt=1, problem=PROBLEM),
    events.ProblemReported(time_s=4.5, problem=PROBLEM),
    events.TrainingResumed(time_s=5.0, path="checkpoints/1", epoch=1, step=1),
    events.TrainingEnded(time_s=6.0, outcome=Outcome.STOPPED),
    events.RunEnded(time_s=7.0, outcome=Outcome.FAILED, problem=PROBLEM),
]
PLAIN = StepsDone(
    time_s=5.5,
    step=3,
    steps=1,
    epoch=1,
    step_in_epoch=3,
    examples=8,
    loss=0.5,
    examples_per_second=9.0,
)
FIELDS = json.loads(encode_event(PLAIN))
ODD_LINES = [
    *(json.dumps({**FIELDS, name: value}) for name in FIELDS for value in (1, 2.0, "3", None, [])),
    *(json.dumps({key: FIELDS[key] for key in FIELDS if key != left_out}) for left_out in FIELDS),
    json.dumps({**FIELDS, "from_a_newer_version": 1}),
    json.dumps(FIELDS, indent=1).replace("\n", "\r"),
    f"{encode_event(PLAIN)} {encode_event(PLAIN)}",
    encode_event(PLAIN)[:40],
    encode_event(PLAIN)[40:],
    encode_event(PLAIN).replace("0.5", "NaN"),
    encode_event(PLAIN).replace("0.5", "1e999"),
    '{"kind":"steps_done"}',
    "steps_done",
    "  ",
    "",
    "\xff",
]
LINES = st.one_of(
    STEPS.map(encode_event),
    st.sampled_from(OTHERS).map(encode_event),
    st.sampled_from(ODD_LINES),
)
MANY_LINES = st.lists(
    st.one_of(LINES.map(lambda line: [line]), st.just([encode_event(PLAIN)] * 90)), max_size=30
).map(lambda runs: [line for run in runs for line in run])


def steps(number: int, **changed: object) -> StepsDone:
    return PLAIN.model_copy(update={"step": number, "time_s": float(number), **changed})


@settings(max_examples=60)
@given(MANY_LINES)
def test_that_bulk_and_one_by_one_are_the_same_events_and_the_same_status(
    lines: list[str],
) -> None:
    content = [line.encode("latin-1") for line in lines]
    one_by_one = [decode_event(line) for line in content if line.strip()]

    parts = decode_parts(b"".join(line + b"\n" for line in content))

    flat = [event for part in parts for event in (part if isinstance(part, StepBatch) else (part,))]
    assert flat == one_by_one
    status = bulk = RunStatus(epoch_total=3)
    for event in one_by_one:
        status = status.after(event)
    for part in parts:
        bulk = bulk.after(part)
    assert bulk == status


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(st.lists(LINES, max_size=12), st.lists(st.integers(1, 400), max_size=8))
def test_that_a_status_does_not_depend_on_where_the_file_is_cut(
    tmp_path: Path, lines: list[str], cuts: list[int]
) -> None:
    layout = RunLayout(tmp_path)
    layout.events.unlink(missing_ok=True)
    content = "".join(line + "\n" for line in lines).encode("latin-1")
    follower, bulk = RunFollower(layout), RunStatus()
    with layout.events.open("ab", buffering=0) as file:
        for cut in [*cuts, len(content)]:
            taken, content = content[:cut], content[cut:]
            file.write(taken)
            for part in follower.poll().parts:
                bulk = bulk.after(part)
    status = RunStatus()
    for line in lines:
        if line.strip():
            status = status.after(decode_event(line.encode("latin-1")))
    assert bulk == status


def test_that_no_odd_line_is_taken_for_steps_that_is_none_alone() -> None:
    lines = [line.encode("latin-1") for line in ODD_LINES if "\r" not in line]
    taken = [line for line in lines if line.strip() and StepBatch().take(line + b"\n")]
    assert [line for line in taken if not isinstance(decode_event(line), StepsDone)] == []


def test_that_steps_that_follow_each_other_are_one_value_however_many() -> None:
    told: list[Event] = [OTHERS[0], *map(steps, range(1, 501)), OTHERS[1], steps(501)]

    parts = decode_parts("".join(encode_event(event) + "\n" for event in told).encode())

    opening, many, between, one = parts
    assert (opening, between) == (OTHERS[0], OTHERS[1])
    assert isinstance(many, StepBatch)
    assert isinstance(one, StepBatch)
    assert (len(many), many.first, many.last) == (500, steps(1), steps(500))
    assert (len(one), one.first, one.last) == (1, steps(501), steps(501))
    assert many.step.tolist() == many.time_s.tolist() == list(range(1, 501))


def test_that_columns_hold_what_the_events_say() -> None:
    batch = StepBatch.of([steps(1, accuracy=0.25, loss=2.0), steps(2, epoch=4)])

    assert batch.metrics["accuracy"][0] == 0.25
    assert math.isnan(batch.metrics["accuracy"][1])
    assert batch.metrics["loss"].tolist() == [2.0, 0.5]
    assert batch.metrics["examples_per_second"].tolist() == [9.0, 9.0]
    assert list(batch) == [steps(1, accuracy=0.25, loss=2.0), steps(2, epoch=4)]


def test_that_a_count_that_no_column_holds_harms_nobody() -> None:
    (part,) = decode_parts(encode_event(steps(10**30)).encode() + b"\n")

    assert isinstance(part, UnknownEvent)
    assert StepBatch.of([steps(10**30)]).step.tolist() == [2**63 - 1]


def test_that_a_damaged_line_among_many_steps_is_reported_in_its_place() -> None:
    lines = [encode_event(steps(number)) for number in range(1, 400)]
    lines[200] = lines[200][:30]

    before, damaged, after = decode_parts("".join(line + "\n" for line in lines).encode())

    assert isinstance(damaged, UnknownEvent)
    assert isinstance(before, StepBatch)
    assert isinstance(after, StepBatch)
    assert (len(before), len(after)) == (200, 198)


def test_that_samples_in_bulk_are_columns_with_gaps_where_nothing_was_reported() -> None:
    both = (
        DeviceReading(key="a", memory_used_mib=10, gpu_utilization_percent=1.5),
        DeviceReading(key="b", memory_used_mib=20),
    )
    samples = [
        TelemetrySample(time_s=1.0, readings=both),
        TelemetrySample(time_s=2.0, readings=both[:1]),
    ]

    batch = SampleBatch.of(samples)

    assert batch.time_s.tolist() == [1.0, 2.0]
    assert batch.devices["a"].gpu_utilization_percent.tolist() == [1.5, 1.5]
    assert batch.devices["b"].memory_used_mib[0] == 20
    assert math.isnan(batch.devices["b"].memory_used_mib[1])
    assert math.isnan(batch.devices["b"].gpu_utilization_percent[0])
    assert batch.whole() == tuple(samples)


@pytest.mark.parametrize(
    "damaged",
    [
        b'{"time_s":1.0,"re\n',
        b"\xff\n",
        b'{"readings":[]}\n',
        b"\n",
        b'{"nested":' + b"[" * 10_000 + b"\n",
    ],
    ids=["cut", "bytes", "lacking", "empty", "nested"],
)
def test_that_a_sample_that_cannot_be_read_is_a_gap(damaged: bytes) -> None:
    sample = TelemetrySample(time_s=1.0, readings=(DeviceReading(key="a"),))
    line = sample.model_dump_json().encode() + b"\n"

    batch = SampleBatch(line + damaged + line)

    assert len(batch) == 2
    assert batch.whole() == (sample, sample)


@given(st.lists(st.floats(0.0, 1e9), min_size=1), st.lists(st.floats(0.0, 1e9), max_size=4))
def test_that_the_run_reports_many_moments_as_it_reports_one(
    asked: list[float], starts: list[float]
) -> None:
    clock = RunClock()
    for start in starts:
        clock.see(events.RunStarted(time_s=start, supervisor_pid=1))
    batch = StepBatch.of([steps(1, time_s=time_s) for time_s in asked])

    moments = clock.moments(batch.time_s).tolist()

    singles = [clock.seconds(time_s) for time_s in asked]
    assert [None if math.isnan(moment) else moment for moment in moments] == singles
    in_bulk, alone = RunClock(), RunClock()
    in_bulk.see_steps(batch)
    for event in batch:
        alone.see(event)
    restarted = events.RunStarted(time_s=2e9, supervisor_pid=1)
    in_bulk.see(restarted)
    alone.see(restarted)
    assert in_bulk.seconds(3e9) == alone.seconds(3e9)


def test_that_times_that_differ_by_more_than_a_float_holds_are_followed() -> None:
    greatest = sys.float_info.max
    events = [steps(1, time_s=greatest), steps(2, time_s=-greatest), steps(3, time_s=5.0)]
    status = RunStatus(epoch_total=3)
    for event in events:
        status = status.after(event)
    assert status.step == 3
    (bulk,) = decode_parts("".join(f"{encode_event(each)}\n" for each in events).encode())
    assert RunStatus(epoch_total=3).after(bulk) == status
