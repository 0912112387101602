"""The cells of a CSV of labels.

The file is read line by line and need not be one that anybody meant well with: a line and the
number of lines have bounds. Commas, semicolons or tabs stand between the cells, whichever the
first line has most of.
"""

import csv
from collections.abc import Iterator
from io import BufferedReader
from itertools import chain, islice
from pathlib import Path

from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.files.regular_files import open_regular

FIELD = "data.labels_csv"
_LONGEST_LINE = 2**20
_MOST_LINES = 10_000_000


def read_rows(path: Path, root: Path, most: int | None = None) -> tuple[list[int], list[list[str]]]:
    """The numbers of the lines that hold something, from 1, and the cells of each: at least one.

    Args:
        path: Of the CSV.
        root: The folder of the images, for the words.
        most: So many lines at most; ``None``: all.

    Raises:
        ProblemError: It is no such file, or one of its lines has more cells than another.
    """
    numbers: list[int] = []
    rows: list[list[str]] = []
    try:
        with open_regular(path) as file:
            for number, row in islice(_rows(path, file), most):
                if len(row) < 2 and not rows:
                    raise problem_of(
                        "data_csv_one_column",
                        f"{path} has one column only; the label has to be beside the file of "
                        "each image.",
                        "Separate the cells by commas, semicolons or tabs.",
                    )
                if rows and len(row) != len(rows[0]):
                    raise problem_of_line(
                        path,
                        number,
                        f"has {len(row):,} cells, and the first line {len(rows[0]):,}",
                    )
                numbers.append(number)
                rows.append(row)
    except FileNotFoundError as error:
        raise problem_of(
            "data_labels_missing",
            f"There is no file {path} with the labels of the images in {root}.",
            "Put it there: each set has one in its own folder; or leave data.labels_csv empty.",
        ) from error
    except OSError as error:
        raise problem_of(
            "data_csv_unreadable",
            f"{path} cannot be read: {error.strerror}.",
            "Choose a CSV file that you may read.",
        ) from error
    if not rows:
        raise problem_of(
            "data_csv_empty", f"{path} is empty.", "Choose a CSV with a line for each image."
        )
    return numbers, rows


def problem_of(
    code: str, message: str, hint: str, detail: str = "", *, field: str = FIELD
) -> ProblemError:
    """A problem with the file of labels."""
    return ProblemError(Problem(code=code, field=field, message=message, hint=hint, detail=detail))


def problem_of_line(path: Path, number: int, what: str) -> ProblemError:
    """A problem with one line of that file."""
    return problem_of(
        "data_csv_unreadable",
        f"Line {number:,} of {path} {what}.",
        "Correct that line, or save the table again as CSV (UTF-8, comma separated).",
    )


def _rows(path: Path, file: BufferedReader) -> Iterator[tuple[int, list[str]]]:
    """The cells of each line that is not empty, with its number."""
    lines = _lines(path, file)
    first = next(lines, "")
    delimiter = max(",;\t", key=first.count)
    reader = csv.reader(chain([first], lines), delimiter=delimiter, strict=True)
    try:
        for row in reader:
            if row:
                yield reader.line_num, row
    except csv.Error as error:
        raise problem_of_line(path, reader.line_num, f"is not a CSV ({error})") from error


def _lines(path: Path, file: BufferedReader) -> Iterator[str]:
    for number in range(1, _MOST_LINES + 2):
        line = file.readline(_LONGEST_LINE + 1)
        if not line:
            return
        if len(line) > _LONGEST_LINE:
            raise problem_of_line(path, number, f"has more than {_LONGEST_LINE:,} bytes")
        if number > _MOST_LINES:
            raise problem_of_line(path, number, f"exceeds the {_MOST_LINES:,} that are read")
        if line.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in line:
            raise problem_of_line(path, number, "is not UTF-8 text")
        # A file's name is bytes, whatever they mean; Python holds them so (PEP 383).
        yield line.decode("utf-8-sig" if number == 1 else "utf-8", "surrogateescape")
