"""A table: features of its columns, made as training made them, and labels.

What a profile leaves out a preview fills in (:func:`~gpupanel.domain.preview.with_found`): how the
file is written, and what each column holds.
"""

from string import Template

from typing_extensions import override

from gpupanel.domain.data import TableData, Target
from gpupanel.domain.table_data import (
    MOST_CATEGORIES,
    RECIPE_MEMBER,
    MissingValues,
)
from gpupanel.planning.script.data_section import SourceScript
from gpupanel.planning.script.sections import indented, joined
from gpupanel.planning.script.tables import table_functions

_MADE_AS = '''
def made_as(features, table):
    """The features of other rows, made as training made its own, and what each cell lacks."""
    columns, is_missing = [], []
    for column in features:
        cells = table[column["name"]]
        if column["kind"] == "category":
            values = texts(cells)
            columns.append(
                np.float32([[value == each for each in column["categories"]] for value in values])
            )
            is_missing.append(np.array([value is None for value in values]))
            continue
        is_number = column["kind"] == "number"
        values = numbers(cells) if is_number else days(cells, column["first_day"])[0]
        is_missing.append(np.isnan(values))
        columns.append(np.where(is_missing[-1], np.float32(column["mean"]), values)[:, np.newaxis])
    return np.concatenate(columns, axis=1), is_missing
'''

_FURTHER_SETS = """
def examples_of(table):
    \"\"\"Those of another table with the same columns.\"\"\"
    x, is_missing = made_as(features, table)
$labels
    return x[~lacking], y[~lacking]
"""

_TRAINED_ON = """
TARGETS, IGNORED, GROUP = $targets, $ignored, $group
NUMBERS = $numbers
CATEGORIES = $categories
DATES = $dates
KINDS = ("number", "date")
columns, is_category, is_missing, features = [], [], [], []
table = read_table($path)
for name, cells in table.items():
    if name in (*TARGETS, *IGNORED, GROUP):
        continue
    if name in (*NUMBERS, *DATES):
        values, first_day = (numbers(cells), 0) if name in NUMBERS else days(cells)
        empty = np.isnan(values)
        if empty.all():
            continue
        mean = values[~empty].mean(dtype=np.float64)
        columns.append(np.where(empty, np.float32(mean), values)[:, np.newaxis])
        made = {"mean": float(mean), "first_day": float(first_day)}
        features.append({"name": name, "kind": KINDS[name in DATES], **made})
    elif name in CATEGORIES:
        values = texts(cells)
        categories = sorted(set(values) - {None})
        if not 0 < len(categories) <= $most:
            continue
        columns.append(np.float32([[value == each for each in categories] for value in values]))
        empty = np.array([value is None for value in values])
        features.append({"name": name, "kind": "category", "categories": categories})
    else:
        continue
    is_missing.append(empty)
    is_category += [name in CATEGORIES] * columns[-1].shape[1]
x, is_category = np.concatenate(columns, axis=1), np.array(is_category)
"""

_VALUES = """
y = np.stack([numbers(table[name]) for name in TARGETS], axis=1)
lacking = np.isnan(y).any(axis=1)
y = y[:, 0] if len(TARGETS) == 1 else y
"""
_SEVERAL = """
y = np.stack([numbers(table[name]) for name in TARGETS], axis=1)
lacking = np.isnan(y).any(axis=1)
class_names = $names
"""
_CLASSES = """
if $is_category:
    labels = texts(table[TARGETS[0]])
else:
    values = numbers(table[TARGETS[0]])
    labels = [None if np.isnan(value) else shown(value) for value in values]
class_names = $names
lacking = np.array([label is None for label in labels])
y = np.array([-1 if label is None else class_names.index(label) for label in labels], np.int32)
"""
_NAMES = """(
    sorted({label for label in labels if label is not None})
    if TARGETS[0] in CATEGORIES
    else [shown(value) for value in np.unique(values[~np.isnan(values)])]
)"""

_FOR_MODEL = """
import json
import zipfile

# How training made features of a table's columns stands in the model's file.
with zipfile.ZipFile($model) as archive:
    recipe = json.loads(archive.read("$member"))
TARGETS, class_names = $targets or recipe["targets"], recipe["class_names"]
features, table = recipe["features"], read_table($path)
x, is_missing = made_as(features, table)
y, lacking = None, np.zeros(len(x), bool)
"""
_WHERE_THERE = "if all(name in table for name in TARGETS):"
_ERROR = """
if np.any([lacking, *is_missing]):
    raise SystemExit("The table has empty cells.")
"""
_DROP = "lacking = np.any([lacking, *is_missing], axis=0)"
_KEPT = "x, y = x[~lacking], y[~lacking]"
_KEPT_GROUPS = "groups = $made[~lacking]  # rows of the same are held out together"
_UNKNOWN = "y = None if lacking.any() else y"


_KEPT_IN_MODEL = """
import json
import zipfile

# Who predicts with the model has to make the same features of other tables.
recipe = {
    "schema_version": 1,
    "features": features,
    "targets": TARGETS,
    "target_kind": "category" if TARGETS[0] in CATEGORIES else "number",
    "predicts": $predicts,
    "class_names": $class_names,
}
with zipfile.ZipFile("model.keras", "a") as archive:
    archive.writestr("$member", json.dumps(recipe))
"""


class _Table(SourceScript[TableData]):
    """Python that reads the whole table."""

    @override
    def read(self, data: TableData, *, needs_labels: bool) -> str:
        trained_on = Template(_TRAINED_ON).substitute(
            path=repr(data.path),
            targets=list(data.targets),
            ignored=list(data.ignore),
            group=repr(data.group),
            numbers=list(data.numbers or ()),
            categories=list(data.categories or ()),
            dates=list(data.dates or ()),
            most=MOST_CATEGORIES,
        )
        is_category = "TARGETS[0] in CATEGORIES"
        labels = _labels(data, is_category=is_category, names=_NAMES)
        sets = _sets(data, is_category=is_category)
        made_as = _MADE_AS if sets else ""
        kept = joined(labels, _missing(data, drops=True), _KEPT, _groups(data), made_as, sets)
        count = "" if data.target_kind is Target.VALUES else "class_count = len(class_names)"
        return joined(_functions(data), trained_on, kept, count)

    @override
    def read_for_model(self, data: TableData, model_path: str, *, needs_labels: bool) -> str:
        opened = Template(_FOR_MODEL).substitute(
            path=repr(data.path),
            model=repr(model_path),
            member=RECIPE_MEMBER,
            targets=list(data.targets),
        )
        opened = joined(_MADE_AS, opened)
        is_category = 'recipe["target_kind"] == "category"'
        labels = _labels(data, is_category=is_category, names='recipe["class_names"]')
        missing = _missing(data, drops=needs_labels)
        if needs_labels:
            sets = _sets(data, is_category=is_category)
            kept = joined(labels, missing, _KEPT, _groups(data), sets)
            return joined(_functions(data), opened, kept)
        labels = indented(joined(labels, _UNKNOWN, "lacking = np.zeros(len(x), bool)"))
        # A prediction is on the table itself.
        none = [
            f"x_{name}, y_{name} = x[:0], None if y is None else y[:0]" for name in _set_paths(data)
        ]
        without_sets = "\n".join(none)
        return joined(_functions(data), opened, _WHERE_THERE, labels, missing, without_sets)

    @override
    def kept_in_model(self, data: TableData) -> str:
        target = data.target_kind or Target.CLASSES
        return Template(_KEPT_IN_MODEL).substitute(
            predicts=repr(target.value),
            class_names="[]" if target is Target.VALUES else "class_names",
            member=RECIPE_MEMBER,
        )

    @override
    def class_names(self, data: TableData) -> str:
        return ""  # they were read with the labels


def _functions(data: TableData) -> str:
    return table_functions(data, data.path, *_set_paths(data).values())


def _labels(data: TableData, *, is_category: str, names: str) -> str:
    match data.target_kind:
        case Target.VALUES:
            return _VALUES
        case Target.LABELS:
            several = "list(TARGETS)" if names == _NAMES else names
            return Template(_SEVERAL).substitute(names=several)
    return Template(_CLASSES).substitute(is_category=is_category, names=names)


def _set_paths(data: TableData) -> dict[str, str]:
    paths = {"val": data.validation_path, "test": data.test_path}
    return {name: path for name, path in paths.items() if path}


def _sets(data: TableData, *, is_category: str) -> str:
    """From how training made its features to the validation and the test table."""
    chosen = _set_paths(data)
    if not chosen:
        return ""
    labels = joined(
        _labels(data, is_category=is_category, names="class_names"), _missing(data, drops=True)
    )
    # The classes are those of the rows that were trained on.
    kept = [line for line in labels.split("\n") if line != "class_names = class_names"]
    read = Template(_FURTHER_SETS).substitute(labels=indented("\n".join(kept)))
    lines = [
        f"x_{name}, y_{name} = examples_of(read_table({path!r}))" for name, path in chosen.items()
    ]
    return joined(read, "\n".join(lines))


def _groups(data: TableData) -> str:
    if not data.group:
        return ""
    made = f"numbers(table[{data.group!r}])"
    if data.group in (data.categories or ()):
        made = f'np.array([text or "" for text in texts(table[{data.group!r}])])'
    elif data.group in (data.dates or ()):
        made = f"days(table[{data.group!r}])[0]"
    return Template(_KEPT_GROUPS).substitute(made=made)


def _missing(data: TableData, *, drops: bool) -> str:
    match data.missing:
        case MissingValues.ERROR:
            return _ERROR
        case MissingValues.DROP if drops:
            return _DROP
    return ""


SCRIPT = _Table()
