"""Which CSV files beside images say what these are: found by what they hold."""

import contextlib
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from gpupanel.domain.image_names import is_hidden
from gpupanel.domain.images_in_table import SAMPLED_LINES, table_of_images
from gpupanel.domain.problem import Fix, Problem, ProblemError, Severity
from gpupanel.domain.visible_text import as_utf8
from gpupanel.trainer.datasets.images.csv_lines import named_images, quoted
from gpupanel.trainer.datasets.images.csv_rows import FIELD, read_rows
from gpupanel.trainer.datasets.images.listing import images_below

_SUFFIXES = (".csv", ".tsv")
_MOST_FILES = 20
_MOST_BYTES = 2**28
_SUBMISSION = "submission"
"""Competitions give a file of this name with the images to predict on and made-up labels."""


def label_files(folders: Iterable[Path], root: Path, images: Sequence[str]) -> list[Path]:
    """The CSV files in some folders of which a line names one of the images.

    Args:
        folders: Where they may be; one that cannot be read holds none.
        root: The folder of the images.
        images: Those that there are.
    """
    files = [path for folder in folders for path in _tables_in(folder)][:_MOST_FILES]
    return [path for path in files if _naming(path, root, images, SAMPLED_LINES)]


def are_of_other_lines(path: Path, training: Path, other: Path) -> bool:
    """Whether a CSV names images of another set, and none of them by the line of a training image.

    Args:
        path: Of the CSV.
        training: The folder of the training images.
        other: The folder of the other set.
    """
    try:
        trained, others = (
            _naming(path, folder, images_below(folder, "data.path")) for folder in (training, other)
        )
    except ProblemError:
        return False  # whoever reads them says why
    return bool(others) and not trained & others


def labels_from(path: Path, root: Path) -> Fix:
    """The fix that takes the labels of the images in a folder from a CSV."""
    relative = os.path.relpath(path, root)
    return Fix.of(f"Take the labels from {relative}", FIELD, relative)


def beside_classes(files: Sequence[Path], root: Path, classes: Sequence[str]) -> Problem:
    """What is said where folders are classes and a CSV beside them names their images.

    A hint where the CSV has the names of the folders as well, so that it says the same; else the
    folders may be parts of a set.
    """
    cells: set[str] = set()
    with contextlib.suppress(ProblemError):
        _, rows = read_rows(files[0], root, SAMPLED_LINES)
        cells = {cell.strip() for row in rows for cell in row}
    fixes = [labels_from(path, root) for path in files]
    return Problem(
        code="data_labels_beside",
        severity=Severity.HINT if cells & {*classes} else Severity.WARNING,
        field=FIELD,
        message=f"The folders {quoted(classes)} are classes, and {files[0]} beside them names "
        "their images.",
        hint="Take the labels from it, unless the names of the folders are the classes.",
        fix=fixes[0],
        alternatives=tuple(fixes[1:]),
    )


def _tables_in(folder: Path) -> list[Path]:
    try:
        found = sorted(folder.iterdir())
    except OSError:
        return []
    return [path for path in found if _may_hold_labels(path)]


def _may_hold_labels(path: Path) -> bool:
    name = path.name.lower()
    if not name.endswith(_SUFFIXES) or is_hidden(name) or _SUBMISSION in name:
        return False
    is_own = path.is_file() and not path.is_symlink() and as_utf8(path.name) == path.name
    return is_own and path.stat().st_size <= _MOST_BYTES


def _naming(
    path: Path, root: Path, images: Sequence[str], most: int | None = None
) -> frozenset[int]:
    """The numbers of the lines that name an image."""
    try:
        numbers, rows = read_rows(path, root, most)
    except ProblemError:
        return frozenset()
    named = named_images(root, images)
    table = table_of_images(rows, named, None)
    if table is None:
        return frozenset()
    places = named.places(row[table.file_column] for row in rows)
    return frozenset(number for number, place in zip(numbers, places, strict=True) if place >= 0)
