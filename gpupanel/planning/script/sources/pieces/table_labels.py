"""Labels of a table's rows in a script, and which rows have them."""

from collections.abc import Iterator
from typing import Literal

from gpupanel.domain.data import TableData, Target
from gpupanel.domain.table_data import MissingValues
from gpupanel.planning.script.sections import joined, lines_of

_LABELS_OF_FULL_ROWS = """
labels = [None if out else label for label, out in zip(labels, np.any(is_missing, axis=0))]
"""
_CLASS_NUMBERS = """
lacking = np.array([label is None for label in labels])
y = np.array([-1 if label is None else class_names.index(label) for label in labels], np.int32)
"""
_NUMBERS = """
columns = [reader.numbers(table[name], target_written.get(name)) for name in TARGETS]
y = np.stack(columns, axis=1)
lacking = np.isnan(y).any(axis=1)
"""
_ERROR = """
if np.any([lacking, *is_missing]):
    raise SystemExit("The table has empty cells.")
"""
_DROP = "lacking = np.any([lacking, *is_missing], axis=0)"

ClassNames = Literal["known", "in_data", "of_model", "of_model_and_data"]
"""Where the names of classes come from."""


def table_labels(data: TableData, names: ClassNames = "known", *, drops: bool = True) -> str:
    """The labels of a table's rows.

    Args:
        data: Which.
        names: Where those of the classes come from.
        drops: Rows with empty cells may be left out.
    """
    if data.target_kind in (Target.CLASSES, None):
        drops = drops and data.missing is MissingValues.DROP
        return lines_of(_class_labels(data, names, drops=drops))
    return lines_of(_number_labels(data, names))


def _class_labels(data: TableData, names: ClassNames, *, drops: bool) -> Iterator[str]:
    are_texts = target_is_category(data)
    if are_texts:
        yield "labels = reader.texts(table[TARGETS[0]])"
    else:
        yield "labels = reader.exact(table[TARGETS[0]], target_written.get(TARGETS[0]))"
    if are_texts and names == "in_data":
        yield "class_names = sorted({*labels} - {None})"
    if drops:
        yield _LABELS_OF_FULL_ROWS
    if not are_texts and names == "in_data":
        yield "from decimal import Decimal"
        yield "class_names = sorted({*labels} - {None}, key=Decimal)"
    if names in ("of_model", "of_model_and_data"):
        yield 'class_names = recipe["class_names"]'
    if names == "of_model_and_data":
        yield "class_names = [*class_names, *sorted({*labels} - {None, *class_names})]"
    yield _CLASS_NUMBERS


def _number_labels(data: TableData, names: ClassNames) -> Iterator[str]:
    if data.target_kind is Target.LABELS:
        if names == "in_data":
            yield "class_names = TARGETS"
        elif names != "known":
            yield 'class_names = recipe["class_names"]'
    yield _NUMBERS
    if data.target_kind is Target.VALUES:
        yield "y = y[:, 0] if len(TARGETS) == 1 else y"


def labels_of_examples(data: TableData, names: ClassNames = "known") -> str:
    """The labels, and which rows are ``lacking`` something and are no examples."""
    return joined(table_labels(data, names), missing_cells(data, drops=True))


def target_is_category(data: TableData) -> bool:
    """Whether the target holds texts: a preview has found it."""
    return not set(data.targets[:1]).isdisjoint(data.categories or ())


def missing_cells(data: TableData, *, drops: bool) -> str:
    """What becomes of rows with empty cells, where they are not filled in.

    Args:
        data: Which.
        drops: They may be left out.
    """
    match data.missing:
        case MissingValues.ERROR:
            return _ERROR
        case MissingValues.DROP if drops:
            return _DROP
    return ""
