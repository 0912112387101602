"""The traces in a run's folder: a folder each, and the record that is written when one is whole."""

import shutil
from contextlib import suppress
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from gpupanel.domain.request import Request
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.trace import TraceRecord, TraceRequest
from gpupanel.files.guarded_files import make_folder, read_file, status
from gpupanel.files.whole_files import whole_file, write_whole

RECORD_NAME: Final = "trace.json"
MOST_TRACES: Final = 1_000
_MOST_BYTES: Final = 2**16


def asked_trace(layout: RunLayout) -> TraceRequest | None:
    """What is asked for now; ``None``: nothing, or nothing that can be read."""
    with suppress(OSError, ValidationError):
        path = layout.requests / Request.TRACE
        return TraceRequest.model_validate_json(read_file(path, layout.root, _MOST_BYTES))
    return None


def new_trace_folder(layout: RunLayout) -> Path:
    """Make the folder of the next trace.

    Raises:
        OSError: It cannot be made, or the run has :data:`MOST_TRACES` already.
    """
    make_folder(layout.tensorboard, layout.root)
    for number in range(1, MOST_TRACES + 1):
        folder = layout.trace(number)
        if status(folder, layout.root) is None:
            make_folder(folder, layout.root)
            return folder
    raise FileExistsError(f"{layout.tensorboard} holds {MOST_TRACES:,} traces")


def keep_trace(written: Path, folder: Path, layout: RunLayout) -> None:
    """Copy the files of a trace into its folder of the run.

    Args:
        written: Where the profiler has written them, in folders of its own.
        folder: As :func:`new_trace_folder` gives it.
        layout: The run.

    Raises:
        OSError: They cannot be written.
    """
    for source in sorted(written.rglob("*")):
        target = folder / source.relative_to(written)
        if source.is_dir():
            make_folder(target, layout.root)
            continue
        with (
            source.open("rb") as file,
            whole_file(target, private=True, within=layout.root) as kept,
        ):
            shutil.copyfileobj(file, kept)


def write_trace_record(folder: Path, record: TraceRecord, layout: RunLayout) -> None:
    """Say that the trace in a folder is whole, or why there is none.

    Raises:
        OSError: It cannot be written.
    """
    content = record.model_dump_json(indent=2)
    write_whole(folder / RECORD_NAME, content, private=True, within=layout.root)


def trace_records(layout: RunLayout) -> dict[int, TraceRecord]:
    """The traces of a run that are whole, by their number, in the order in which they were taken.

    What cannot be read is none.
    """
    found = {}
    for number in range(1, MOST_TRACES + 1):
        folder = layout.trace(number)
        try:
            if status(folder, layout.root) is None:
                break
            content = read_file(folder / RECORD_NAME, layout.root, _MOST_BYTES)
            found[number] = TraceRecord.model_validate_json(content)
        except (OSError, ValueError):
            continue
    return found
