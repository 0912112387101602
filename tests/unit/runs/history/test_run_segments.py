"""Restarts and segments of a run, counted from its events."""

import pytest

from gpupanel.domain.energy import DeviceEnergy, RunEnergy
from gpupanel.domain.events import (
    RunEnded,
    RunRestarted,
    RunStarted,
    StepsDone,
    decode_event,
    encode_event,
)
from gpupanel.domain.outcome import Outcome
from gpupanel.runs.history import run_segments
from gpupanel.runs.history.run_segments import RunSegments


def step(time_s: float) -> StepsDone:
    return StepsDone(
        time_s=time_s,
        step=1,
        steps=1,
        epoch=1,
        step_in_epoch=1,
        examples=1,
        loss=1.0,
        examples_per_second=1.0,
    )


def lines(*written: object) -> bytes:
    return b"".join(encode_event(event).encode() + b"\n" for event in written)  # type: ignore[arg-type]


def test_that_a_first_segment_lasts_from_its_beginning() -> None:
    segments = RunSegments()
    assert segments.lasted_s(5.0) == 0.0
    segments.see(RunStarted(time_s=100.0, supervisor_pid=1))
    assert (segments.restarts, segments.lasted_s(130.0)) == (0, 30.0)
    assert segments.lasted_s(50.0) == 0.0


def test_that_segments_are_added_and_what_is_between_them_is_not() -> None:
    segments = RunSegments()
    segments.see_block(
        lines(
            RunStarted(time_s=100.0, supervisor_pid=1),
            RunRestarted(time_s=105.0, attempt=1),
            RunEnded(time_s=110.0, outcome=Outcome.SUSPENDED),
            RunRestarted(time_s=5_000.0, attempt=0),
            RunStarted(time_s=5_001.0, supervisor_pid=2),
            # Killed: nobody said how it ended.
            step(5_021.0),
            RunRestarted(time_s=9_000.0, attempt=0),
        )
    )
    segments.see(RunStarted(time_s=9_001.0, supervisor_pid=3))
    segments.see(RunRestarted(time_s=9_003.0, attempt=1))
    segments.see(step(9_004.0))
    assert segments.restarts == 4
    assert segments.lasted_s(9_006.0) == 10.0 + 20.0 + 5.0


def test_that_damaged_lines_do_no_harm() -> None:
    segments = RunSegments()
    words = b'{"kind": "log", "text": "\\"run_restarted\\" and \\"run_started\\""}'
    segments.see_block(
        b"\n".join(
            [
                lines(RunStarted(time_s=100.0, supervisor_pid=1)),
                words,
                b'{"kind": "run_started", "time_s": "never"}',
                b'{"kind": "run_restarted"',
                b"[1]",
                b'{"time_s": 1%s}' % (b"0" * 400),
                lines(RunStarted(time_s=200.0, supervisor_pid=1)),
            ]
        )
    )
    assert (segments.restarts, segments.lasted_s(210.0)) == (
        0,
        10.0,
    )  # the first segment's end is not known


def test_that_what_the_segments_before_took_is_that_of_their_last_word() -> None:
    segments = RunSegments()
    for watt_hours in (1.0, 2.5):
        energy = RunEnergy(
            devices=(DeviceEnergy(device_key="GPU-a", watt_hours=watt_hours, measured_by="power"),)
        )
        ended = RunEnded(time_s=1.0, outcome=Outcome.SUSPENDED, energy=energy)
        segments.see_block(lines(ended))
    assert segments.energy is not None
    assert segments.energy.watt_hours == 2.5


def test_that_of_a_long_run_only_the_lines_around_its_segments_are_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looked: list[bytes] = []

    def noted(line: bytes) -> object:
        looked.append(line)
        return decode_event(line)

    monkeypatch.setattr(run_segments, "decode_event", noted)
    segments = RunSegments()
    steps = lines(*(step(100.0 + at) for at in range(1_000)))
    first = RunStarted(time_s=100.0, supervisor_pid=1)
    segments.see_block(lines(first) + steps)
    segments.see_block(steps)
    segments.see_block(b"")
    segments.see_block(lines(RunStarted(time_s=5_000.0, supervisor_pid=2)))
    assert len(looked) == 2
    assert segments.lasted_s(5_010.0) == 999.0 + 10.0
