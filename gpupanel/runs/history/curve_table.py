"""Curves of several runs as one table in a file: a row for each value, for other programs."""

import io
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TextIO

from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.visible_text import visible_line
from gpupanel.files.whole_files import whole_file
from gpupanel.runs.history.curves import CurveReader, MetricPoints

HEADER = "run,step,time_s,metric,value"
_ROWS_AT_ONCE = 10_000


class WritingCancelledError(Exception):
    """Nobody wants the table any more; what was written of it is removed."""


def write_curve_table(
    path: Path,
    layouts: Sequence[RunLayout],
    is_cancelled: Callable[[], bool] = lambda: False,
) -> int:
    """Write every value of every run as CSV (RFC 4180, UTF-8), all or nothing.

    The columns are ``run`` (the name of its directory), ``step``, ``time_s`` (seconds since the
    run's start, without pauses before resumptions), ``metric`` and ``value``. Values are those
    that the run reported, to the last digit, with the last word on steps that were done twice.

    Args:
        path: What stands there is replaced when the table is complete.
        layouts: The runs are read anew from their directories, one after the other.
        is_cancelled: Asked now and then while reading and writing.

    Returns:
        How many rows there are below the header.

    Raises:
        OSError: A run cannot be read, or the file cannot be written; what is no regular file is
            not replaced.
        WritingCancelledError: So it was asked.
    """
    with whole_file(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="")
        text.write(f"{HEADER}\r\n")
        rows = sum(_write_run(text, layout, is_cancelled) for layout in layouts)
        text.flush()
        text.detach()  # the file is closed by whoever opened it
    return rows


def _write_run(file: TextIO, layout: RunLayout, is_cancelled: Callable[[], bool]) -> int:
    reader = CurveReader(layout)
    reader.read()
    while reader.has_more:
        _stop_if(is_cancelled)
        reader.read()
    written = 0
    for metric, points in reader.points().items():
        for rows in _rows(_quoted(layout.name), _quoted(visible_line(metric)), points):
            _stop_if(is_cancelled)
            file.write("".join(rows))
        written += len(points)
    return written


def _rows(run: str, metric: str, points: MetricPoints) -> Iterator[list[str]]:
    for start in range(0, len(points), _ROWS_AT_ONCE):
        part = slice(start, start + _ROWS_AT_ONCE)
        yield [
            f"{run},{step:.0f},{time_s:.3f},{metric},{value!r}\r\n"
            for step, time_s, value in zip(
                points.steps[part].tolist(),
                points.times_s[part].tolist(),
                points.values[part].tolist(),
                strict=True,
            )
        ]


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"' if any(c in name for c in ',"\r\n') else name


def _stop_if(is_cancelled: Callable[[], bool]) -> None:
    if is_cancelled():
        raise WritingCancelledError
