"""A scan in sections that people read, the same in the window, in the terminal and when copied."""

import math
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, timedelta

from gpupanel.domain.number_text import number_range, short_number
from gpupanel.domain.problem_text import problem_text
from gpupanel.domain.scan import DataScan, ScannedColumn, ScannedSet, Tally
from gpupanel.domain.value import Value

_MOST_ROWS = 50
"""The most rows of a section; the JSON has more."""
_TITLE_WIDTH = 32
_FIRST_DAY = date(1970, 1, 1)


class ScanRow(Value):
    """One line: what it is about, and what is known."""

    name: str
    text: str


class ScanSection(Value):
    """Lines that belong together."""

    title: str
    rows: tuple[ScanRow, ...]


def scan_summary(scan: DataScan) -> str:
    """What is known, in one sentence."""
    if scan.needs_download:
        return "This data has not been downloaded yet: the first run downloads it."
    if scan.needs_start:
        return "This data comes from Python code, which is executed only by a run."
    if not scan.sets:
        return "The data could not be scanned." if scan.problems else "Nothing is known yet."
    parts = [f"{_counted(each.examples, f'{each.name} example')}" for each in scan.sets]
    said = ", ".join(parts)
    if not scan.is_complete:
        return f"{said}; not scanned to the end."
    return f"{said}, scanned in {_seconds(scan.seconds)}."


def scan_sections(scan: DataScan) -> tuple[ScanSection, ...]:
    """All that is known, without the problems."""
    found = (
        ("Examples", _examples(scan)),
        *((f"Classes: {each.name}", _classes(each)) for each in scan.sets),
        (
            "Empty classes",
            [ScanRow(name=name, text="holds nothing") for name in scan.empty_classes],
        ),
        ("Stored as", _tallies(scan.formats)),
        ("Pixels, width x height", _tallies(scan.sizes)),
        ("Arrays", _arrays(scan)),
        ("Columns", [ScanRow(name=each.name, text=column_text(each)) for each in scan.columns]),
        ("Same content", list(_same(scan))),
        (
            "Unreadable",
            [ScanRow(name=f"{each.set}: {each.name}", text=each.why) for each in scan.unreadable],
        ),
    )
    return tuple(ScanSection(title=title, rows=_bounded(rows)) for title, rows in found if rows)


def scan_text(scan: DataScan) -> str:
    """The whole report as text, to be pasted elsewhere: first what is wrong."""
    parts = [f"Data: {scan.described}\n{scan_summary(scan)}"]
    parts += [problem_text(problem) for problem in scan.problems]
    parts += [_section_text(section) for section in scan_sections(scan)]
    return "\n\n".join(parts) + "\n"


def column_text(column: ScannedColumn) -> str:
    """What is known of a column."""
    said = [column.holds]
    if column.least is not None and column.greatest is not None:
        least, greatest = column.least, column.greatest
        is_date = column.holds == "date"
        said.append(
            f"{_day(least)} to {_day(greatest)}" if is_date else number_range(least, greatest)
        )
    if column.mean is not None and column.holds != "date":
        said.append(f"mean {short_number(column.mean)}")
    if column.different is not None:
        said.append(f"{column.different:,} different")
    if column.missing:
        said.append(f"{column.missing:,} empty")
    if column.is_constant:
        said.append("constant")
    return ", ".join(said)


def _day(days: float) -> str:
    """A day since 1970 as people write it."""
    try:
        return str(_FIRST_DAY + timedelta(math.floor(days)))
    except OverflowError:
        return f"day {days:g}"


def _examples(scan: DataScan) -> list[ScanRow]:
    rows = []
    for each in scan.sets:
        text = f"{each.examples:,}"
        if each.labelled != each.examples:
            text += f", {each.examples - each.labelled:,} without a label"
        rows.append(ScanRow(name=each.name.capitalize(), text=text))
    if scan.unlabelled:
        rows.append(ScanRow(name="Left out for lack of a label", text=f"{scan.unlabelled:,}"))
    if scan.feature_shape:
        shape = " x ".join(f"{length:,}" for length in scan.feature_shape)
        rows.append(ScanRow(name="One example", text=shape))
    if scan.sets:
        rows.append(ScanRow(name="Predicted", text=scan.target.label))
    if scan.is_complete:
        rows.append(ScanRow(name="Shared by several sets", text=f"{scan.leaked:,}"))
        rows.append(ScanRow(name="Duplicates", text=f"{scan.copies:,}"))
        rows.append(ScanRow(name="Unreadable", text=f"{scan.unreadable_count:,}"))
    return rows


def _classes(part: ScannedSet) -> list[ScanRow]:
    total = max(1, part.examples)
    return [
        ScanRow(name=name, text=f"{count:,} ({100 * count / total:.1f} %)")
        for name, count in part.class_counts
    ]


def _tallies(tallies: Iterable[Tally]) -> list[ScanRow]:
    return [ScanRow(name=each.name, text=f"{each.count:,}") for each in tallies]


def _arrays(scan: DataScan) -> list[ScanRow]:
    rows = []
    for each in scan.arrays:
        shape = " x ".join(f"{length:,}" for length in each.shape) or "one number"
        rows.append(
            ScanRow(name=each.name, text=f"{shape}, {each.dtype}" if each.dtype else "damaged")
        )
    return rows


def _same(scan: DataScan) -> Iterator[ScanRow]:
    for each in scan.same:
        first, *others = each.examples
        named = ", ".join(
            f"{other.set}: {other.name}{f' ({other.label})' if other.label else ''}"
            for other in others
        )
        more = each.count - len(each.examples)
        label = f" ({first.label})" if first.label else ""
        yield ScanRow(
            name=f"{first.set}: {first.name}{label}",
            text=named + (f", {more:,} more" if more else ""),
        )


def _bounded(rows: Sequence[ScanRow]) -> tuple[ScanRow, ...]:
    left = len(rows) - _MOST_ROWS
    if left <= 0:
        return tuple(rows)
    return (*rows[:_MOST_ROWS], ScanRow(name="…", text=f"{left:,} more; the JSON names them"))


def _section_text(section: ScanSection) -> str:
    lines = (f"  {row.name:<{_TITLE_WIDTH}} {row.text}" for row in section.rows)
    return "\n".join((section.title, *lines))


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def _seconds(seconds: float) -> str:
    return f"{seconds:.1f} s" if seconds < 60 else f"{math.floor(seconds / 60)} min"
