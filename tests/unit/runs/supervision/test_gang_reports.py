"""Events of processes on other nodes come into the run's file once, whoever hands them over."""

from pathlib import Path

import pytest

from gpupanel.domain.run_layout import RunLayout
from gpupanel.runs.supervision.gang_reports import ProcessEvents


@pytest.fixture
def layout(tmp_path: Path) -> RunLayout:
    (tmp_path / "run").mkdir()
    return RunLayout(tmp_path / "run")


def events_of(layout: RunLayout, count: int = 2) -> tuple[ProcessEvents, list[str]]:
    lines: list[str] = []

    def append(line: str) -> None:
        lines.append(line)
        with layout.events.open("a") as file:
            file.write(line + "\n")

    return ProcessEvents(layout, count, append), lines


def test_that_what_a_node_handed_over_is_not_taken_again_from_the_file(layout: RunLayout) -> None:
    events, lines = events_of(layout)
    layout.process_events(0).write_text('{"a": 1}\n{"a": 2}\n{"a": 3}\n{"half')
    events.take(0, ('{"a": 1}', '{"a": 2}'), read_bytes=18)
    layout.process_events(1).write_text('{"b": 1}\n')
    events.finish()
    assert lines == ['{"a": 1}', '{"a": 2}', '{"a": 3}', '{"b": 1}']
    assert not list(layout.root.glob("events-*.jsonl"))


def test_that_what_a_killed_supervisor_had_taken_is_known_by_the_lines(layout: RunLayout) -> None:
    layout.events.write_text('{"time_s": 1}\n{"time_s": 2}\n')
    layout.process_events(0).write_text('{"time_s": 1}\n{"time_s": 2}\n{"time_s": 3}\n')
    events, lines = events_of(layout)
    events.begin()
    assert lines == ['{"time_s": 3}']
    events.finish()
    assert lines == ['{"time_s": 3}']


def test_that_a_link_in_the_place_of_a_file_is_not_followed(
    layout: RunLayout, tmp_path: Path
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("a secret\n")
    layout.process_events(0).symlink_to(secret)
    events, lines = events_of(layout)
    events.begin()
    events.finish()
    assert lines == []
    assert secret.read_text() == "a secret\n"
