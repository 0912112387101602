"""Run directories that something has happened to: read as far as they can be, never a crash."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpupanel.domain.events import decode_event, encode_event
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.telemetry import DeviceReading, TelemetrySample
from gpupanel.runs.following.follower import RunFollower
from gpupanel.runs.following.status import RunStatus
from gpupanel.runs.history.summaries import list_runs
from gpupanel.ui.plots.run_curves import RunCurves
from gpupanel.ui.run_actions import restart_text
from gpupanel.ui.run_texts import status_text
from tests.fakes.devices import TWO_UNEQUAL
from tests.fakes.run_directory import WrittenRun
from tests.fuzz.mutations import damaged, with_odd_values
from tests.fuzz.written_events import RUN

LONGEST_S = 5.0
FEW = settings(
    max_examples=200,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
MANY = settings(FEW, max_examples=5_000)

LINES = [encode_event(event).encode() for event in RUN]
SAMPLE = TelemetrySample(
    time_s=1_790_000_010.0,
    readings=(DeviceReading(key="GPU-4090", gpu_utilization_percent=80, memory_used_mib=900),),
)
EVENT_FILE = b"\n".join(LINES) + b"\n"
TELEMETRY_FILE = (SAMPLE.model_dump_json().encode() + b"\n") * 8


@pytest.fixture
def layout(runs_dir: Path) -> RunLayout:
    return WrittenRun(runs_dir).layout


def look_at(layout: RunLayout) -> RunStatus:
    """Everything that window and terminal read of a run."""
    start_s = time.monotonic()
    follower, status, curves = RunFollower(layout), RunStatus(epoch_total=3), RunCurves()
    curves.set_devices(TWO_UNEQUAL)
    while not (followed := follower.poll()).is_empty:
        for part in followed.parts:
            status = status.after(part)
        curves.add_events(followed.parts)
        curves.add_samples(followed.readings)
    assert status_text(status)
    restart_text(status)
    summaries = list_runs(layout.root.parent)
    assert [summary.name for summary in summaries] == [layout.name]
    assert time.monotonic() - start_s < LONGEST_S
    return status


def write_in_pieces(layout: RunLayout, content: bytes, places: list[float]) -> None:
    """Write a file of events as it grows, looking at it in between as a window does."""
    follower, status = RunFollower(layout), RunStatus()
    borders = sorted(int(place * len(content)) for place in places)
    layout.events.write_bytes(b"")
    for start, end in zip([0, *borders], [*borders, len(content)], strict=True):
        with layout.events.open("ab") as file:
            file.write(content[start:end])
        for part in follower.poll().parts:
            status = status.after(part)


def assert_told_as_it_is(layout: RunLayout, content: bytes, places: list[float]) -> None:
    write_in_pieces(layout, content, places)
    look_at(layout)
    # What is whole is read, whatever stands around it.
    untouched = [line for line in content.split(b"\n")[:-1] if line in LINES]
    told = (encode_event(event).encode() for event in RunFollower(layout).poll().events)
    # In order; a damaged line may by chance still be an event.
    assert all(line in told for line in untouched)


PIECES = st.lists(st.floats(0.0, 1.0), max_size=4)


@FEW
@given(content=damaged([EVENT_FILE]), places=PIECES)
def test_that_damaged_events_are_read_as_far_as_they_are_whole(
    layout: RunLayout, content: bytes, places: list[float]
) -> None:
    assert_told_as_it_is(layout, content, places)


@pytest.mark.slow
@MANY
@given(content=damaged([EVENT_FILE]), places=PIECES)
def test_that_five_thousand_damaged_event_files_are_read_as_far_as_they_are_whole(
    layout: RunLayout, content: bytes, places: list[float]
) -> None:
    assert_told_as_it_is(layout, content, places)


def assert_odd_events_are_read(layout: RunLayout, odd: list[dict[str, Any]]) -> None:
    """Events that are right as JSON, and strange: from another version, or another program."""
    lines = LINES.copy()
    for number, document in enumerate(odd):
        lines.insert(7 * number % len(lines), json.dumps(document).encode())
    layout.events.write_bytes(b"\n".join(lines) + b"\n")
    look_at(layout)
    for document in odd:
        line = json.dumps(document)
        assert encode_event(decode_event(line))


ODD_EVENTS = st.lists(with_odd_values([json.loads(line) for line in LINES]), min_size=1, max_size=8)


@FEW
@given(odd=ODD_EVENTS)
def test_that_odd_events_are_read(layout: RunLayout, odd: list[dict[str, Any]]) -> None:
    assert_odd_events_are_read(layout, odd)


@pytest.mark.slow
@MANY
@given(odd=ODD_EVENTS)
def test_that_five_thousand_files_of_odd_events_are_read(
    layout: RunLayout, odd: list[dict[str, Any]]
) -> None:
    assert_odd_events_are_read(layout, odd)


@FEW
@given(
    telemetry=damaged([TELEMETRY_FILE]),
    plan=st.data(),
)
def test_that_damaged_neighbours_of_the_events_are_read(
    layout: RunLayout, telemetry: bytes, plan: st.DataObject
) -> None:
    layout.events.write_bytes(EVENT_FILE)
    layout.telemetry.write_bytes(telemetry)
    whole = {path: path.read_bytes() for path in (layout.plan, layout.profile)}
    for path, content in whole.items():
        path.write_bytes(plan.draw(damaged([content])))
    try:
        look_at(layout)
    finally:
        for path, content in whole.items():
            path.write_bytes(content)
