"""Texts: by Keras's ``TextVectorization``, whose words a run makes without it.

What a profile leaves out a preview fills in (:func:`~gpupanel.domain.preview.with_detected`).
"""

from collections.abc import Iterator
from string import Template

from typing_extensions import override

from gpupanel.domain.data import Target, TextData
from gpupanel.domain.table_data import RECIPE_MEMBER
from gpupanel.planning.script.data_section import AS_UTF8, SourceScript
from gpupanel.planning.script.parts import definitions, part
from gpupanel.planning.script.sections import added_to_model, joined, lines_of, record_in_model
from gpupanel.planning.script.tables import table_functions

_FOLDER = '''
def read_text(path):
    with open(path, "rb") as file:
        return text_in_file(file, $encoding)


def read_texts(root, names=None):
    """The names of the classes, the texts, and the class of each."""
    of_class = by_folder(root, listed_files(root, (".txt",), takes_links=False))
    alone = of_class.pop("", [])
    names = names or [as_utf8(name) for name in of_class]$more
    paths = [path for of_one in of_class.values() for path in of_one] or alone
    x = np.array([*map(read_text, paths), None], object)[:-1]
    if not of_class:
        return names, x, None
    numbers = np.array(numbers_of_classes(class_names_in(of_class), names), np.int32)
    return names, x, np.repeat(numbers, [len(of_one) for of_one in of_class.values()])
'''
_TABLE = '''
def read_texts(path, names=None):
    """The names of classes or labels, the texts, and what is predicted of each."""
    table = read_table(path)
    x = np.array([*((text or "") for text in table[TEXT].to_pylist()), None], object)[:-1]
'''
_WITHOUT_TARGETS = """
    if not TARGETS or not all(name in table for name in TARGETS):
        return names or [], x, None
"""
_CLASSES = """
    cells = table[TARGETS[0]]
    labels, are_texts = reader.texts(cells), is_text_type(cells.type)
    if names is None or not {*labels, None} <= {*names, None}:  # or written otherwise
        try:
$parquet            if are_texts and any(re.match("0[0-9]", label or "") for label in labels):
                raise ValueError  # 007 is another name than 7
            labels = reader.exact(cells)
            names = names or sorted({*labels} - {None}, key=Decimal)
        except ValueError:
            names = names or sorted({*labels} - {None})
"""
_TEXTS_OF_PARQUET = """
            if $are_texts:
                raise ValueError
"""
_CLASS_NUMBERS = """
    lacking = np.array([label is None for label in labels])
    y = np.array([-1 if label is None else names.index(label) for label in labels], np.int32)
"""
_NUMBERS = """
    y = np.stack([reader.numbers(table[name]) for name in TARGETS], axis=1)
    lacking = np.isnan(y).any(axis=1)
"""
_WITHOUT_LABELS = """
    if lacking.any():
        return names, x, None
"""
_FROM_MODEL = """
# Which words the model knows stands in its file.
$recipe
LENGTH, WORDS = recipe["length"], recipe["words"]
"""
_KNOWN_NAMES = ', recipe["class_names"]'
_MORE_FOLDERS = """
    known = class_names_in(names)
    more = zip(of_class, class_names_in(of_class))
    names = [*names, *(as_utf8(name) for name, composed in more if composed not in known)]"""
_FOUND_WORDS = """
# The words of those texts that are trained on, and of no others.
with tf.device("/device:CPU:0"):
    vectorize = keras.layers.TextVectorization($most, output_sequence_length=LENGTH)
    vectorize.adapt(tf.data.Dataset.from_tensor_slices(list(x)).batch(1024))
"""
_WORDS_OF_MODEL = """
with tf.device("/device:CPU:0"):
    vectorize = keras.layers.TextVectorization(len(WORDS) + 2, output_sequence_length=LENGTH)
    vectorize.set_vocabulary(WORDS)
"""
_NUMBERED = '''
def numbered(texts):
    """The numbers of the words, 0 where there is none; without words a text is an unknown one."""
    parts = [list(texts[begin : begin + 1024]) for begin in range(0, len(texts), 1024)]
    with tf.device("/device:CPU:0"):
        found = np.concatenate([np.float32(vectorize(tf.constant(part))) for part in parts])
    found[found[:, 0] == 0, 0] = 1
    return found
'''
_KEPT_WORDS = """
# Who predicts with the model has to take the same words.
recipe = {
    "schema_version": 1,
    "words": vectorize.get_vocabulary()[2:],
    "length": LENGTH,
    "empty_words": $words,
"""
_KEPT_AS_BEFORE = """
# Who predicts with the model has to take the same words.
recipe |= {
"""
_KEPT_TARGETS = """
    "text": TEXT or "",
    "targets": TARGETS,
    "predicts": "$predicts",
    "class_names": class_names,
}
"""


class _Text(SourceScript[TextData]):
    """Python that reads the texts, and makes numbers of their words when the sets are known."""

    @override
    def read(self, data: TextData, *, needs_labels: bool) -> str:
        head = f"LENGTH = {data.length}\nTEXT, TARGETS = {data.text!r}, {list(data.targets)!r}"
        return joined(head, _read(data, "", needs_labels=needs_labels))

    @override
    def read_for_model(self, data: TextData, model_path: str, *, needs_labels: bool) -> str:
        read = _read(data, _KNOWN_NAMES, needs_labels=needs_labels, is_evaluated=needs_labels)
        return joined(_from_model(data, model_path, own_targets=False), read)

    @override
    def read_to_train_model(self, data: TextData, model_path: str, *, own_targets: bool) -> str:
        read = _read(data, "" if own_targets else _KNOWN_NAMES, needs_labels=True)
        return joined(_from_model(data, model_path, own_targets=own_targets), read)

    @override
    def pixels(
        self,
        data: TextData,
        *names: str,
        in_memory: bool,
        may_skip: bool = False,
        from_model: bool = False,
    ) -> str:
        words = Template(_WORDS_OF_MODEL if from_model else _FOUND_WORDS)
        made = ", ".join(f"numbered({name})" for name in names)
        return joined(
            words.substitute(most=data.vocabulary), _NUMBERED, f"{', '.join(names)} = {made}"
        )

    @override
    def kept_in_model(self, data: TextData, *, from_model: bool = False) -> str:
        kept = _KEPT_AS_BEFORE if from_model else _KEPT_WORDS
        target = data.target_kind or Target.CLASSES
        recipe = Template(lines_of([kept, _KEPT_TARGETS])).substitute(
            predicts=target.value,
            words=None if data.empty_words is None else list(data.empty_words),
        )
        return joined(recipe, added_to_model("recipe", RECIPE_MEMBER))

    @override
    def class_names(self, data: TextData) -> str:
        return ""  # they were read with the labels


def _from_model(data: TextData, model_path: str, *, own_targets: bool) -> str:
    """From a saved model's file to its words, and to the columns of a table."""
    recipe = record_in_model("recipe", model_path, RECIPE_MEMBER)
    opened = Template(_FROM_MODEL).substitute(recipe=recipe)
    text, targets = repr(data.text), repr(list(data.targets))
    if data.is_table:
        text = text if data.text is not None else 'recipe["text"]'
        targets = targets if data.targets or own_targets else 'recipe["targets"]'
    return joined(opened, f"TEXT, TARGETS = {text}, {targets}")


def _read(data: TextData, names: str, *, needs_labels: bool, is_evaluated: bool = False) -> str:
    """From the names of classes that are known, if any are, to texts and labels of each set.

    Args:
        data: Which.
        names: What stands behind the path where the training set is read.
        needs_labels: Texts without labels are left out.
        is_evaluated: A saved model is evaluated: other classes come after those that it knows.
    """
    sets = {"": data.path, "_val": data.validation_path, "_test": data.test_path}
    lines = [
        f"{'_' if name else 'class_names'}, x{name}, y{name} = "
        f"read_texts({path!r}{', class_names' if name else names})"
        for name, path in sets.items()
        if path
    ]
    target = data.target_kind or Target.CLASSES
    count = [] if target is Target.VALUES else ["class_count = len(class_names)"]
    if not data.is_table:
        read = Template(_FOLDER).substitute(
            encoding=repr(data.encoding or "utf-8"),
            more=_MORE_FOLDERS if is_evaluated else "",
        )
        functions = (
            definitions("image_names", "is_hidden", "suffix_of"),
            AS_UTF8,
            definitions("cell_labels", "class_names_in", "numbers_of_classes"),
            part("folder_listing", "listed_files", "by_folder"),
            part("text_files"),
        )
        return joined(*functions, read, *lines, *count)
    paths = [path for path in sets.values() if path]
    read = lines_of(_read_table(data, paths, needs_labels=needs_labels, is_evaluated=is_evaluated))
    return joined(table_functions(data, *paths), read, *lines, *count)


def _read_table(
    data: TextData, paths: list[str], *, needs_labels: bool, is_evaluated: bool
) -> Iterator[str]:
    """The function ``read_texts(path, names)``."""
    if data.target_kind in (Target.CLASSES, None):
        yield from ("from decimal import Decimal", "", "")
    yield _TABLE
    if not needs_labels:
        yield _WITHOUT_TARGETS
    if data.target_kind in (Target.CLASSES, None):
        yield Template(_CLASSES).substitute(parquet=_texts_of_parquet(paths))
        if is_evaluated:
            yield "    names = [*names, *sorted({*labels} - {None, *names})]"
        yield _CLASS_NUMBERS
    else:
        are_labels = data.target_kind is Target.LABELS
        yield "    names = names or list(TARGETS)" if are_labels else "    names = []"
        yield _NUMBERS
        if not are_labels:
            yield "    y = y[:, 0] if len(TARGETS) == 1 else y"
    if not needs_labels:
        yield _WITHOUT_LABELS
    yield "    return names, x[~lacking], y[~lacking]"


def _texts_of_parquet(paths: list[str]) -> str:
    """The texts of a Parquet file: its columns have types, so a text is no number."""
    kinds = {path.lower().endswith(".parquet") for path in paths}
    if True not in kinds:
        return ""
    is_either = len(kinds) > 1
    are_texts = 'path.lower().endswith(".parquet") and are_texts' if is_either else "are_texts"
    return Template(_TEXTS_OF_PARQUET).substitute(are_texts=are_texts).lstrip("\n")


SCRIPT = _Text()
