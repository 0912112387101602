"""Traces in a run's folder: listed in the order they were taken, and nothing of a stranger's."""

import os
from pathlib import Path

import pytest

from gpupanel.domain.request import Request
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.trace import TraceRecord, TraceRequest
from gpupanel.files.guarded_files import UnsafeFileError
from gpupanel.files.trace_files import (
    RECORD_NAME,
    asked_trace,
    keep_trace,
    new_trace_folder,
    trace_records,
    write_trace_record,
)
from gpupanel.runs.tools.tracing.tracing import read_trace


@pytest.fixture
def layout(tmp_path: Path) -> RunLayout:
    layout = RunLayout(tmp_path / "run")
    layout.requests.mkdir(parents=True)
    return layout


def record(step: int) -> TraceRecord:
    return TraceRecord(time_s=1.8e9, first_step=step, steps=10, seconds=1.0)


def taken(layout: RunLayout, step: int) -> Path:
    folder = new_trace_folder(layout)
    write_trace_record(folder, record(step), layout)
    return folder


def test_that_traces_are_numbered_as_they_are_taken(layout: RunLayout) -> None:
    for step in (5, 50, 500):
        taken(layout, step)
    assert trace_records(layout) == {1: record(5), 2: record(50), 3: record(500)}


def test_that_a_trace_without_a_record_is_none_and_keeps_its_number(layout: RunLayout) -> None:
    new_trace_folder(layout)
    taken(layout, 50)
    assert trace_records(layout) == {2: record(50)}


def test_that_a_run_without_traces_has_none(layout: RunLayout) -> None:
    assert trace_records(layout) == {}
    assert asked_trace(layout) is None


def test_that_a_request_is_read_as_it_was_asked(layout: RunLayout) -> None:
    request = TraceRequest(steps=25, process=2, seconds=3.5)
    (layout.requests / Request.TRACE).write_text(request.model_dump_json())
    assert asked_trace(layout) == request


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[1]", b"\xff\xfe", b'{"steps": 1e400}', b"9" * 2**17]
)
def test_that_nonsense_is_no_request(layout: RunLayout, content: bytes) -> None:
    (layout.requests / Request.TRACE).write_bytes(content)
    assert asked_trace(layout) is None


def test_that_a_fifo_is_not_waited_for(layout: RunLayout) -> None:
    os.mkfifo(layout.requests / Request.TRACE)
    assert asked_trace(layout) is None
    folder = new_trace_folder(layout)
    os.mkfifo(folder / RECORD_NAME)
    assert trace_records(layout) == {}


def test_that_links_are_not_followed(layout: RunLayout, tmp_path: Path) -> None:
    folder = taken(layout, 5)
    outside = tmp_path / "outside"
    folder.rename(outside)
    folder.symlink_to(outside)
    assert trace_records(layout) == {}
    # The next trace stands beside it, and nothing is written where the link leads.
    assert new_trace_folder(layout) == layout.trace(2)


def test_that_a_linked_folder_of_traces_is_not_written_to(
    layout: RunLayout, tmp_path: Path
) -> None:
    (tmp_path / "outside").mkdir()
    layout.tensorboard.symlink_to(tmp_path / "outside")
    with pytest.raises(OSError, match="symbolic link"):
        new_trace_folder(layout)
    assert list((tmp_path / "outside").iterdir()) == []


def test_that_a_folder_whose_name_is_no_utf_8_is_read_like_any_other(tmp_path: Path) -> None:
    layout = RunLayout(tmp_path / os.fsdecode(b"\xe9"))
    layout.requests.mkdir(parents=True)
    taken(layout, 5)
    found = read_trace(layout, 1)
    # There is a record, and no trace beside it: the process that reads it could say so.
    assert [problem.code for problem in found.problems] == ["trace_empty"]


def test_that_a_trace_is_copied_into_the_run_and_through_no_link(tmp_path: Path) -> None:
    layout, written = RunLayout(tmp_path / "run"), tmp_path / "written"
    layout.root.mkdir()
    (written / "plugins" / "profile").mkdir(parents=True)
    (written / "plugins" / "profile" / "host.xplane.pb").write_bytes(b"trace")
    folder = new_trace_folder(layout)
    keep_trace(written, folder, layout)
    assert (folder / "plugins" / "profile" / "host.xplane.pb").read_bytes() == b"trace"

    victim, other = tmp_path / "victim", new_trace_folder(layout)
    victim.mkdir()
    (other / "plugins").symlink_to(victim)
    with pytest.raises(UnsafeFileError):
        keep_trace(written, other, layout)
    assert not list(victim.iterdir())
