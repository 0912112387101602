"""A table: features of its columns, made as training made them, and labels.

What a profile leaves out a preview fills in (:func:`~gpupanel.domain.preview.with_detected`): how
the file is written, and what each column holds.
"""

from string import Template

from typing_extensions import override

from gpupanel.domain.data import TableData, Target
from gpupanel.domain.table_data import (
    MOST_CATEGORIES,
    RECIPE_MEMBER,
)
from gpupanel.planning.script.data_section import SourceScript
from gpupanel.planning.script.parts import part
from gpupanel.planning.script.sections import (
    added_to_model,
    indented,
    joined,
    lines_of,
    record_in_model,
)
from gpupanel.planning.script.sources.pieces.table_labels import (
    ClassNames,
    labels_of_examples,
    missing_cells,
    table_labels,
    target_is_category,
)
from gpupanel.planning.script.tables import table_functions

_FEATURES = "made_features(reader, features, table)"
_FURTHER_SETS = """
def examples_of(table):
    \"\"\"Those of another table with the same columns.\"\"\"
    x, is_missing = $features
$labels
    return x[~lacking], y[~lacking]
"""

_TRAINED_ON = """
TARGETS = $targets
NUMBERS = $numbers
CATEGORIES = $categories
DATES = $dates
LEFT_OUT = $left_out
table = read_table($path)
target_written = $target_written
learned = {name: cells for name, cells in table.items() if name not in (*TARGETS, *LEFT_OUT)}
features = list(learned_columns(reader, learned, NUMBERS, CATEGORIES, DATES, $most))
x, is_missing = made_features(reader, features, learned)
is_category = are_of_categories(features)
"""

_FROM_MODEL = """
# How features are made of a table's columns stands in the model's file.
$recipe
TARGETS, features = $targets, recipe["features"]
$words
table = read_table($path)
target_written = $target_written
x, is_missing = $features
"""
_KNOWN_WORDS = """
# What is no name that is known means nothing.
known = {*$names, *(name for each in features for name in each.get("categories", ()))}
reader = reader._replace(empty_names=[word for word in reader.empty if word not in known])
"""
_WORDS_OF_MODEL = """
if recipe.get("empty_words") is not None:
    reader = reader.with_words(recipe["empty_words"])
"""
_WITHOUT_LABELS = """
class_names = recipe["class_names"]
y, lacking = None, np.zeros(len(x), bool)
if all(name in table for name in TARGETS):
"""
_KEPT = "x, y = x[~lacking], y[~lacking]"
_KEPT_GROUPS = "groups = $made[~lacking]  # rows of the same are held out together"
_UNKNOWN = "y = None if lacking.any() else y"


_KEPT_FEATURES = """
# Who predicts with the model has to make the same features of other tables.
recipe = {
    "schema_version": 1,
    "features": features,
    "empty_words": $words,
"""
_KEPT_AS_BEFORE = """
# Who predicts with the model has to make the same features of other tables.
recipe |= {
"""
_KEPT_TARGETS = """
    "targets": TARGETS,
    "target_kind": "$target_kind",
    "predicts": "$predicts",
    "class_names": $class_names,
    "target_written": target_written,
}
"""


class _Table(SourceScript[TableData]):
    """Python that reads the whole table."""

    @override
    def read(self, data: TableData, *, needs_labels: bool) -> str:
        trained_on = Template(_TRAINED_ON).substitute(
            path=repr(data.path),
            targets=list(data.targets),
            left_out=list(filter(None, (*data.ignore, data.group))),
            numbers=list(data.numbers or ()),
            categories=list(data.categories or ()),
            dates=list(data.dates or ()),
            most=MOST_CATEGORIES,
            target_written=_target_written(data),
        )
        sets = _sets(data, _FEATURES)
        return joined(
            _functions(data), trained_on, _kept(data, "in_data"), sets, _class_count(data)
        )

    @override
    def read_for_model(self, data: TableData, model_path: str, *, needs_labels: bool) -> str:
        opened = _from_model(data, model_path, own_targets=False)
        if needs_labels:
            sets = _sets(data, _features_for_model(data))
            return joined(opened, _kept(data, "of_model_and_data"), sets)
        labels = joined(
            table_labels(data, drops=False), _UNKNOWN, "lacking = np.zeros(len(x), bool)"
        )
        # A prediction is on the table itself.
        none = [
            f"x_{name}, y_{name} = x[:0], None if y is None else y[:0]" for name in _set_paths(data)
        ]
        return joined(
            opened,
            _WITHOUT_LABELS,
            indented(labels),
            missing_cells(data, drops=False),
            "\n".join(none),
        )

    @override
    def read_to_train_model(self, data: TableData, model_path: str, *, own_targets: bool) -> str:
        opened = _from_model(data, model_path, own_targets=own_targets)
        # Several labels at once are called as their columns are.
        is_known = data.target_kind in (Target.CLASSES, None) and not own_targets
        kept = _kept(data, "of_model" if is_known else "in_data")
        sets = _sets(data, _features_for_model(data))
        return joined(opened, kept, sets, _class_count(data))

    @override
    def kept_in_model(self, data: TableData, *, from_model: bool = False) -> str:
        target = data.target_kind or Target.CLASSES
        kept = _KEPT_AS_BEFORE if from_model else _KEPT_FEATURES
        recipe = Template(lines_of([kept, _KEPT_TARGETS])).substitute(
            target_kind="category" if target_is_category(data) else "number",
            predicts=target.value,
            class_names="[]" if target is Target.VALUES else "class_names",
            words=None if data.empty_words is None else list(data.empty_words),
        )
        return joined(recipe, added_to_model("recipe", RECIPE_MEMBER))

    @override
    def class_names(self, data: TableData) -> str:
        return ""  # they were read with the labels


def _functions(data: TableData, *needed: str) -> str:
    """What reads tables, and of what makes features of their columns that which is needed."""
    tables = table_functions(data, data.path, *_set_paths(data).values())
    return joined(tables, part("table_features", *needed))


def _from_model(data: TableData, model_path: str, *, own_targets: bool) -> str:
    """From a saved model's file to the features of the table's rows."""
    targets = repr(list(data.targets))
    opened = Template(_FROM_MODEL).substitute(
        path=repr(data.path),
        features=_features_for_model(data),
        recipe=record_in_model("recipe", model_path, RECIPE_MEMBER),
        targets=targets if data.targets or own_targets else 'recipe["targets"]',
        words=_words_of_model(data, own_targets=own_targets),
        target_written=(_target_written if own_targets else _known_target_written)(data),
    )
    return joined(_functions(data, "made_features"), opened)


def _target_written(data: TableData) -> str:
    """How the numbers of targets are written: found in the rows that are trained on."""
    found = "{name: reader.written(table[name]) for name in TARGETS}"
    return "{}" if target_is_category(data) else found


def _known_target_written(data: TableData) -> str:
    """As :func:`_target_written`, by the saved model, but for what was chosen for these rows."""
    known = 'recipe.get("target_written", {})'
    if not (data.decimal or data.date_order):
        return known
    return f"{{name: written_as_chosen(reader, written) for name, written in {known}.items()}}"


def _features_for_model(data: TableData) -> str:
    """The features of rows of other files: what was chosen for these counts."""
    is_chosen = data.decimal or data.date_order
    return _FEATURES.replace(")", ", as_chosen=True)") if is_chosen else _FEATURES


def _words_of_model(data: TableData, *, own_targets: bool) -> str:
    """Which words mean nothing to a saved model."""
    if data.empty_words is not None:
        return ""
    known = _known_words(data, 'recipe["class_names"]')
    return joined("" if own_targets else known, _WORDS_OF_MODEL)


def _known_words(data: TableData, names: str) -> str:
    are_classes = data.target_kind in (Target.CLASSES, None)
    return Template(_KNOWN_WORDS).substitute(names=names if are_classes else "()")


def _kept(data: TableData, names: ClassNames) -> str:
    """From the features of all rows to those rows that are examples, with their labels."""
    return joined(labels_of_examples(data, names), _KEPT, _groups(data))


def _class_count(data: TableData) -> str:
    return "" if data.target_kind is Target.VALUES else "class_count = len(class_names)"


def _set_paths(data: TableData) -> dict[str, str]:
    paths = {"val": data.validation_path, "test": data.test_path}
    return {name: path for name, path in paths.items() if path}


def _sets(data: TableData, features: str) -> str:
    """From how training made its features to the validation and the test table.

    Args:
        data: Which.
        features: An expression for those of a table and for what each column lacks.
    """
    chosen = _set_paths(data)
    if not chosen:
        return ""
    # The classes are those of the rows that were trained on.
    labels = indented(labels_of_examples(data))
    read = Template(_FURTHER_SETS).substitute(labels=labels, features=features)
    lines = [
        f"x_{name}, y_{name} = examples_of(read_table({path!r}))" for name, path in chosen.items()
    ]
    known = _known_words(data, "class_names") if data.empty_words is None else ""
    return joined(read, known, "\n".join(lines))


def _groups(data: TableData) -> str:
    if not data.group:
        return ""
    made = f'np.array([key or "" for key in reader.keys(table[{data.group!r}])])'
    return Template(_KEPT_GROUPS).substitute(made=made)


SCRIPT = _Table()
