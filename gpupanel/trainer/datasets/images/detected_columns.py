"""Which columns of a CSV of labels are found to be what, and which can be chosen."""

import contextlib
from collections.abc import Mapping
from pathlib import Path

from gpupanel.domain.data import ImagesData
from gpupanel.domain.problem import ProblemError
from gpupanel.trainer.datasets.images.beside_numbers import without_numbers
from gpupanel.trainer.datasets.images.csv_lines import columns_of, read_lines, without_column
from gpupanel.trainer.datasets.images.label_columns import with_labels
from gpupanel.trainer.datasets.images.listing import images_below


def find_columns(
    data: ImagesData,
) -> tuple[Mapping[str, tuple[str, ...]], dict[str, str | tuple[str, ...]]]:
    """The columns that can be chosen, and those that are taken, by the setting's key.

    Args:
        data: With a folder and a CSV.
    """
    root = Path(data.path)
    path = root / data.labels_csv
    columns: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    found: dict[str, str | tuple[str, ...]] = {}
    with contextlib.suppress(ProblemError):  # whoever reads the labels says why not
        images = images_below(root, "data.path")
        columns, others = columns_of(path, root, images, data.file_column)
        lines = read_lines(path, root, images, data.file_column)
        found["file_column"] = lines.file_column
        lines = without_numbers(lines, data)
        if data.chosen_group:
            lines, _ = without_column(lines, data.chosen_group, must_be_there=True)
        lines, _ = with_labels(lines, data.chosen_labels, data.predicts)
        found["label_columns"] = lines.columns[0] if len(lines.columns) == 1 else lines.columns
    keys = ("group", "label_columns", "numbers")
    return {**dict.fromkeys(keys, others), "file_column": columns}, found
