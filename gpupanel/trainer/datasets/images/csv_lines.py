"""What a CSV says of images: a line each, first the file, then what it is.

The file is read line by line and need not be one that anybody meant well with: a line, the number
of lines and what a name may lead to have bounds. Commas, semicolons or tabs stand between the
cells, whichever the first line has most of; that line is a header where it names no image.
"""

import csv
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from io import BufferedReader
from itertools import chain
from pathlib import Path

from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.domain.visible_text import as_utf8, visible_line
from gpupanel.files.regular_files import open_regular
from gpupanel.trainer.datasets.images.formats import SUFFIXES

FIELD = "data.labels_csv"
_LONGEST_LINE = 2**20
_MOST_LINES = 10_000_000


@dataclass(frozen=True, slots=True)
class ImageLines:
    """The lines that were found to be about images, in their order.

    Attributes:
        path: Of the CSV.
        columns: Names of what is to be predicted; numbers where there is no header.
        images: The place of each line's image among those that were listed.
        cells: The other cells of each line.
        numbers: Where each line stands in the file, from 1.
        missing: Files that lines name and that are not there.
    """

    path: Path
    columns: tuple[str, ...]
    images: tuple[int, ...]
    cells: tuple[tuple[str, ...], ...]
    numbers: tuple[int, ...]
    missing: tuple[str, ...]


def read_lines(path: Path, root: Path, images: Sequence[str]) -> ImageLines:
    """The lines of a CSV, each with its image.

    A name is meant from the folder of the images; its ending may be missing.

    Args:
        path: Of the CSV.
        root: The folder of the images.
        images: Those that there are.

    Raises:
        ProblemError: It is no such file, or what it says cannot be.
    """
    try:
        with open_regular(path) as file:
            return _placed(path, _rows(path, file), _Names(path, root, images))
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


def columns_of(path: Path, root: Path) -> tuple[str, ...]:
    """The columns of a CSV beside that of the images, without reading more than its first line.

    Args:
        path: Of the CSV.
        root: The folder of the images.

    Raises:
        ProblemError: It is no such file.
    """
    try:
        with open_regular(path) as file:
            _, head = next(_rows(path, file), (0, [""]))
    except OSError:
        return ()
    name = os.path.normpath(head[0].strip().replace("\\", "/"))
    # A name that is too long for the system is no image's, either.
    is_image = any(os.path.exists(root / f"{name}{end}") for end in ("", *SUFFIXES))  # noqa: PTH110
    return _columns(head, is_header=not is_image)


def _columns(head: Sequence[str], *, is_header: bool) -> tuple[str, ...]:
    numbers = tuple(str(place) for place in range(1, len(head)))
    if not is_header:
        return numbers
    titles = (each.strip() or number for each, number in zip(head[1:], numbers, strict=True))
    return tuple(map(as_utf8, titles))


def without_column(
    lines: ImageLines, name: str, *, must_be_there: bool
) -> tuple[ImageLines, tuple[str, ...]]:
    """The lines without a column, and what stands in it.

    Args:
        lines: Of a CSV.
        name: Of the column.
        must_be_there: Refuse lines that have none of that name; else they stay as they are.

    Raises:
        ProblemError: There is no such column, or no other one.
    """
    if name not in lines.columns:
        if not must_be_there:
            return lines, ()
        named = ", ".join(f'"{visible_line(each)}"' for each in lines.columns[:20])
        raise problem_of(
            "data_group_unknown",
            f'{lines.path} has no column "{visible_line(name)}" beside that of the images; it has '
            f"{named}.",
            "Choose one of these, or leave data.group empty.",
            field="data.group",
        )
    if len(lines.columns) == 1:
        raise problem_of(
            "data_csv_one_column",
            f'{lines.path} has only the column "{visible_line(name)}" beside that of the images, '
            "and it is the group column: none has labels.",
            "Choose another column in data.group, or leave it empty.",
            field="data.group",
        )
    at = lines.columns.index(name)
    left = replace(
        lines,
        columns=(*lines.columns[:at], *lines.columns[at + 1 :]),
        cells=tuple((*cells[:at], *cells[at + 1 :]) for cells in lines.cells),
    )
    return left, tuple(cells[at] for cells in lines.cells)


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


class _Names:
    """Finds the image that a cell names."""

    def __init__(self, path: Path, root: Path, images: Sequence[str]) -> None:
        self._path = path
        self._root = f"{str(root).rstrip(os.sep)}{os.sep}"
        self._places = {each.removeprefix(self._root): n for n, each in enumerate(images)}
        self._stems: dict[str, int] | None = None

    def place(self, cell: str) -> int | None:
        """Which image it is; ``None``: it is not there.

        Raises:
            ProblemError: The name leads out of the folder.
        """
        if cell in self._places:
            return self._places[cell]
        name = os.path.normpath(cell.strip().replace("\\", "/"))
        name = name.removeprefix(self._root)
        if name.startswith((os.sep, f"..{os.sep}")) or name == "..":
            raise problem_of(
                "data_csv_leaves_folder",
                f'{self._path} names "{as_utf8(cell)}", which is not in the folder {self._root}.',
                "Name each image from the folder that holds them, such as cats/1.png.",
            )
        found = self._places.get(name)
        return self._of_stem(name) if found is None else found

    def _of_stem(self, name: str) -> int | None:
        if self._stems is None:
            self._stems = {}
            for path, number in self._places.items():
                stem = path.rpartition(".")[0]
                # -1: several images differ in the ending only.
                self._stems[stem] = -1 if stem in self._stems else number
        found = self._stems.get(name)
        return None if found == -1 else found


def _placed(path: Path, rows: Iterator[tuple[int, list[str]]], names: _Names) -> ImageLines:
    first = next(rows, None)
    if first is None:
        raise problem_of(
            "data_csv_empty", f"{path} is empty.", "Choose a CSV with a line for each image."
        )
    number, head = first
    if len(head) < 2:
        raise problem_of(
            "data_csv_one_column",
            f"{path} has one column only; the label has to follow the file of each image.",
            "Separate the cells by commas, semicolons or tabs.",
        )
    is_header = names.place(head[0]) is None
    if not is_header:
        rows = chain([first], rows)
    cells: dict[int, tuple[int, tuple[str, ...]]] = {}
    missing: list[str] = []
    kept: dict[tuple[str, ...], tuple[str, ...]] = {}
    for number, row in rows:
        if len(row) != len(head):
            raise problem_of_line(
                path, number, f"has {len(row)} cells, and the first line {len(head)}"
            )
        place = names.place(row[0])
        said = tuple(map(str.strip, row[1:]))
        if place is None:
            missing.append(as_utf8(row[0]))
        elif cells.setdefault(place, (number, kept.setdefault(said, said)))[1] != said:
            before = cells[place][0]
            raise problem_of_line(
                path, number, f"says otherwise than line {before} what {row[0]} is"
            )
    if not cells:
        raise _no_line(path, missing)
    return ImageLines(
        path,
        _columns(head, is_header=is_header),
        tuple(cells),
        tuple(said for _, said in cells.values()),
        tuple(number for number, _ in cells.values()),
        tuple(missing),
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


def _no_line(path: Path, missing: Sequence[str]) -> ProblemError:
    named = ", ".join(f'"{name}"' for name in missing[:5])
    return problem_of(
        "data_csv_no_pictures",
        f"No line of {path} names an image of the folder"
        + (f"; it names {named}." if missing else "."),
        "The first column is the image's file, from the folder that holds the images.",
        "\n".join(missing[:1000]),
    )
