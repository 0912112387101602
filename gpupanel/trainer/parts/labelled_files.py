"""What a table that a person wrote says of images: those that it has a label for, and which."""

import csv
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import NamedTuple

from gpupanel.domain.images_in_table import NamedImages, table_of_images
from gpupanel.trainer.parts.cell_labels import words_for_nothing


class LabelledFiles(NamedTuple):
    """The images that have a label, in the order of their lines.

    Attributes:
        paths: Of the images.
        columns: The names of the columns of labels.
        cells: Of each image what stands in these.
        groups: Of each what stands in the column of groups; empty without one.
    """

    paths: list[str]
    columns: list[str]
    cells: list[list[str]]
    groups: list[str]


def labelled_files(
    table: str,
    root: str,
    images: Sequence[str],
    columns: tuple[str | None, Sequence[str], str | None],
    empty: tuple[Collection[str], Collection[str]],
) -> LabelledFiles:
    """What the table says of the images of a folder; lines about others are left out.

    Args:
        table: Its path.
        root: The folder.
        images: The paths of the images.
        columns: The names of the column that names the images, of those of labels, and of that of
            groups, as the training images have them.
        empty: Words that mean that there is no label: among numbers, and among names.
    """
    file_column, labels, group = columns
    with Path(table).open(encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
        delimiter = max(",;\t", key=file.readline().count)
        file.seek(0)
        rows = [row for row in csv.reader(file, delimiter=delimiter) if row]
    named = NamedImages(root, [path[len(root) :].lstrip("/") for path in images])
    found = table_of_images(rows, named, file_column) or table_of_images(rows, named, None)
    assert found is not None, "a column that was not chosen is found"
    at, titles = found.file_column, found.columns
    others = [name for name in titles if name != titles[at]]
    if not {*labels} <= {*others}:
        labels = [name for name in others if name != group]
    rows = rows[found.is_named :]
    lines: dict[str, dict[str, str]] = {}
    for place, row in zip(named.places(row[at] for row in rows), rows, strict=True):
        if place >= 0:
            cells = (cell.strip() for cell in row)
            lines.setdefault(images[place], dict(zip(titles, cells, strict=True)))
    said = {path: [line[name] for name in labels] for path, line in lines.items()}
    nothing = [words_for_nothing(cells, *empty) for cells in zip(*said.values(), strict=True)]
    held = {
        path: cells
        for path, cells in said.items()
        if not any(cell in words for cell, words in zip(cells, nothing, strict=True))
    }
    groups = [lines[path].get(group or "", "") for path in held]
    return LabelledFiles(list(held), list(labels), list(held.values()), groups)
