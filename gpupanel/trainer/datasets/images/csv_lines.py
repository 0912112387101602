"""What a CSV says of images: a line each, with its file and what it is.

Which column names the files is found by :mod:`gpupanel.domain.images_in_table`.
"""

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from gpupanel.domain.images_in_table import (
    MISSING,
    OUTSIDE,
    SEVERAL,
    NamedImages,
    TableOfImages,
    table_of_images,
)
from gpupanel.domain.problem import Fix, Problem, ProblemError
from gpupanel.domain.visible_text import as_utf8, visible_line
from gpupanel.trainer.datasets.images.csv_rows import problem_of, problem_of_line, read_rows

_LONGEST = 300
"""Letters of a name that are shown."""


@dataclass(frozen=True, slots=True)
class ImageLines:
    """The lines that were found to be about images, in their order.

    Attributes:
        path: Of the CSV.
        file_column: The name of the column of the images.
        columns: The names of the others; numbers where there is no header.
        images: The place of each line's image among those that were listed.
        cells: The other cells of each line.
        numbers: Where each line stands in the file, from 1.
        missing: Files that lines name and that are not there.
        image_names: The cell of each line that names its image.
    """

    path: Path
    file_column: str
    columns: tuple[str, ...]
    images: tuple[int, ...]
    cells: tuple[tuple[str, ...], ...]
    numbers: tuple[int, ...]
    missing: tuple[str, ...]
    image_names: tuple[str, ...]

    def with_columns(self, columns: Sequence[str]) -> "ImageLines":
        """The same with some of the columns, in that order."""
        places = [self.columns.index(name) for name in columns]
        cells = tuple(tuple(row[place] for place in places) for row in self.cells)
        return replace(self, columns=tuple(columns), cells=cells)

    def with_lines(self, places: Sequence[int]) -> "ImageLines":
        """The same with some of the lines, in that order."""
        return replace(
            self,
            images=tuple(self.images[place] for place in places),
            cells=tuple(self.cells[place] for place in places),
            numbers=tuple(self.numbers[place] for place in places),
            image_names=tuple(self.image_names[place] for place in places),
        )


def read_lines(
    path: Path,
    root: Path,
    images: Sequence[str],
    file_column: str | None = None,
    others: Callable[[], Iterable[NamedImages]] = tuple,
) -> ImageLines:
    """The lines of a CSV, each with its image.

    Args:
        path: Of the CSV.
        root: The folder of the images.
        images: Those that there are.
        file_column: The name of the column of the images; ``None``: found.
        others: Gives the images of other sets: what lines name there is not missing here.

    Raises:
        ProblemError: It is no such file, or what it says cannot be.
    """
    numbers, rows = read_rows(path, root)
    named = named_images(root, images)
    table = table_of_images(rows, named, file_column)
    if table is None:
        columns, _ = columns_of(path, root, images)
        raise unknown_column(path, str(file_column), columns, "data.file_column")
    if table.others:
        raise _several_file_columns(path, table)
    if table.is_named:
        numbers, rows = numbers[1:], rows[1:]
    at = table.file_column
    places = named.places(row[at] for row in rows)
    _check_places(path, root, named, places, [row[at] for row in rows])
    missing = [row[at] for row, place in zip(rows, places, strict=True) if place == MISSING]
    for other in others() if missing else ():
        elsewhere = other.places(missing)
        missing = [cell for cell, place in zip(missing, elsewhere, strict=True) if place < 0]
    kept: dict[tuple[str, ...], tuple[str, ...]] = {}
    found = [number for number, place in enumerate(places) if place >= 0]
    cells = []
    for number in found:
        said = tuple(cell.strip() for place, cell in enumerate(rows[number]) if place != at)
        cells.append(kept.setdefault(said, said))
    return ImageLines(
        path,
        table.columns[at],
        (*table.columns[:at], *table.columns[at + 1 :]),
        tuple(places[number] for number in found),
        tuple(cells),
        tuple(numbers[number] for number in found),
        tuple(as_utf8(cell) for cell in missing),
        tuple(rows[number][at] for number in found),
    )


def once_each(lines: ImageLines) -> ImageLines:
    """The lines with one for each image.

    Raises:
        ProblemError: Two lines say different things of an image.
    """
    first: dict[int, int] = {}
    for place, image in enumerate(lines.images):
        before = first.setdefault(image, place)
        if lines.cells[before] != lines.cells[place]:
            raise problem_of_line(
                lines.path,
                lines.numbers[place],
                f"says otherwise than line {lines.numbers[before]:,} what "
                f"{visible_line(as_utf8(lines.image_names[place]))} is",
            )
    return lines.with_lines(tuple(first.values()))


def columns_of(
    path: Path, root: Path, images: Sequence[str], file_column: str | None = None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names of all columns of a CSV, and of those beside that of the images.

    Args:
        path: Of the CSV.
        root: The folder of the images.
        images: Those that there are.
        file_column: The name of the column of the images; ``None``: found.

    Raises:
        ProblemError: It is no such file.
    """
    _, rows = read_rows(path, root)
    named = named_images(root, images)
    table = table_of_images(rows, named, file_column) or table_of_images(rows, named, None)
    columns, at = ((), 0) if table is None else (table.columns, table.file_column)
    return columns, (*columns[:at], *columns[at + 1 :])


def named_images(root: Path, images: Sequence[str]) -> NamedImages:
    """What finds the images of a folder by their names in a CSV."""
    prefix = f"{str(root).rstrip(os.sep)}{os.sep}"
    return NamedImages(str(root), (each.removeprefix(prefix) for each in images))


def _check_places(
    path: Path, root: Path, named: NamedImages, places: Sequence[int], cells: Sequence[str]
) -> None:
    """Refuse names that lead out of the folder, that several images have, or all that are none."""
    outside = next((n for n, place in enumerate(places) if place == OUTSIDE), None)
    if outside is not None:
        raise problem_of(
            "data_csv_leaves_folder",
            f"{path} names {quoted([cells[outside]])}, which is not in the folder {root}{os.sep}.",
            "Name each image from the folder that holds them, such as cats/1.png.",
        )
    if max(places, default=MISSING) < 0:
        raise _no_line(path, cells, named.names)
    several = [cell for cell, place in zip(cells, places, strict=True) if place == SEVERAL]
    if several:
        raise problem_of(
            "data_csv_names_several",
            f"{len(several):,} lines of {path} may name several images of the folder each, or "
            f"several lines the same one: {quoted(several)}.",
            "Name each image with its folder and suffix, from the folder that holds them, such as "
            "cats/1.png.",
            "\n".join(map(as_utf8, several[:1000])),
        )


def _several_file_columns(path: Path, table: TableOfImages) -> ProblemError:
    places = (table.file_column, *table.others)
    names = [table.columns[place] for place in places]
    fixes = [Fix.of(f'Take "{visible_line(name)}"', "data.file_column", name) for name in names[:8]]
    return ProblemError(
        Problem(
            code="data_file_column_unclear",
            field="data.file_column",
            message=f"Several columns of {path} name images of the folder: {quoted(names)}.",
            hint="Say in data.file_column which of them is the file of each line's image.",
            fix=fixes[0],
            alternatives=tuple(fixes[1:]),
        )
    )


def unknown_column(path: Path, name: str, columns: Sequence[str], field: str) -> ProblemError:
    """The problem that a CSV has no column of a name that was chosen."""
    key = field.removeprefix("data.")
    return ProblemError(
        Problem(
            code="data_column_unknown",
            field=field,
            message=f'{path} has no column "{visible_line(name)}"; it has {quoted(columns, 20)}.',
            hint=f"Choose one of these, or leave data.{key} empty.",
            fix=Fix.of(f"Find it, whatever data.{key} says", field),
        )
    )


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
        raise problem_of(
            "data_group_unknown",
            f'{lines.path} has no column "{visible_line(name)}" beside that of the images; it has '
            f"{quoted(lines.columns, 20)}.",
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
    left = lines.with_columns((*lines.columns[:at], *lines.columns[at + 1 :]))
    return left, tuple(cells[at] for cells in lines.cells)


def _no_line(path: Path, named: Sequence[str], there: Sequence[str]) -> ProblemError:
    holds = f"the folder holds {quoted(there)}" if there else "the folder holds no images"
    return problem_of(
        "data_csv_no_pictures",
        f"No line of {path} names an image of the folder"
        + (f"; it names {quoted(named)}, and {holds}." if named else f"; {holds}."),
        "Name each image as the folder does; its suffix and its folders may be left out. If "
        "another column has the names, say so in data.file_column.",
        "\n".join(map(as_utf8, named[:1000])),
    )


def quoted(names: Sequence[str], most: int = 5) -> str:
    """The first of some names, as they are shown."""
    shown = ", ".join(f'"{visible_line(as_utf8(name[:_LONGEST]))}"' for name in names[:most])
    return f"{shown}, ..." if len(names) > most else shown
