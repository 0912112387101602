"""Texts: by Keras's ``TextVectorization``, whose words a run makes without it.

What a profile leaves out a preview fills in (:func:`~gpupanel.domain.preview.with_detected`).
"""

from collections.abc import Iterator
from string import Template

from typing_extensions import override

from gpupanel.domain.data import Target, TextData
from gpupanel.domain.image_names import HIDDEN_NAMES
from gpupanel.domain.table_data import RECIPE_MEMBER
from gpupanel.planning.script.data_section import AS_UTF8, SourceScript
from gpupanel.planning.script.sections import items_of_set, joined, lines_of
from gpupanel.planning.script.tables import table_functions

_FOLDER = '''
from pathlib import Path
from unicodedata import normalize


HIDDEN = {  # what systems and programs put beside files; so is what begins with a full stop
$hidden
}


def seen_in(folder):
    shown = [path for path in sorted(Path(folder).iterdir()) if path.name[0] != "."]
    return [path for path in shown if path.name.lower() not in HIDDEN and not path.is_symlink()]


def texts_below(folder):
    found = []
    for path in seen_in(folder):
        if path.is_dir():
            found += texts_below(path)
        elif is_text(path):
            found.append(path)
    return found


def is_text(path):
    return path.name.lower().endswith(".txt") and not path.is_dir()


def read_text(path):
    with open(path, "rb") as file:
        return file.read(2**20).decode($encoding, errors="ignore")


def read_texts(root, names=None):
    """The names of the classes, the texts, and the class of each."""
    of_class = {each: texts_below(each) for each in seen_in(root) if each.is_dir()}
    of_class = {as_utf8(each.name): paths for each, paths in of_class.items() if paths}
    names = names or list(of_class)$more
    paths = [path for of_one in of_class.values() for path in of_one]
    # Systems write a name's letters in one form of Unicode or another.
    known = [normalize("NFC", name) for name in names]
    of_name = {name: known.index(normalize("NFC", name)) for name in of_class}
    numbers = [of_name[name] for name, of_one in of_class.items() for _ in of_one]
    if not paths:
        paths, numbers = filter(is_text, seen_in(root)), None
    x = np.array([*map(read_text, paths), None], object)[:-1]
    return names, x, None if numbers is None else np.array(numbers, np.int32)
'''
_TABLE = '''
from decimal import Decimal


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
import json
import zipfile

# Which words the model knows stands in its file.
with zipfile.ZipFile($model) as archive:
    recipe = json.loads(archive.read("$member"))
LENGTH, WORDS = recipe["length"], recipe["words"]
"""
_KNOWN_NAMES = ', recipe["class_names"]'
_MORE_FOLDERS = """
    own = {normalize("NFC", name) for name in names}
    names = [*names, *(name for name in of_class if normalize("NFC", name) not in own)]"""
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
import json
import zipfile

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
with zipfile.ZipFile("model.keras", "a") as archive:
    archive.writestr("$member", json.dumps(recipe))
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
        return Template(lines_of([kept, _KEPT_TARGETS])).substitute(
            predicts=target.value,
            member=RECIPE_MEMBER,
            words=None if data.empty_words is None else list(data.empty_words),
        )

    @override
    def class_names(self, data: TextData) -> str:
        return ""  # they were read with the labels


def _from_model(data: TextData, model_path: str, *, own_targets: bool) -> str:
    """From a saved model's file to its words, and to the columns of a table."""
    opened = Template(_FROM_MODEL).substitute(model=repr(model_path), member=RECIPE_MEMBER)
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
        encoding = data.encoding or "utf-8"
        read = Template(_FOLDER).substitute(
            encoding=repr("utf-8-sig" if encoding == "utf-8" else encoding),
            hidden=items_of_set(HIDDEN_NAMES),
            more=_MORE_FOLDERS if is_evaluated else "",
        )
        return joined(AS_UTF8, read, *lines, *count)
    paths = [path for path in sets.values() if path]
    read = lines_of(_read_table(data, paths, needs_labels=needs_labels, is_evaluated=is_evaluated))
    return joined(table_functions(data, *paths), read, *lines, *count)


def _read_table(
    data: TextData, paths: list[str], *, needs_labels: bool, is_evaluated: bool
) -> Iterator[str]:
    """The function ``read_texts(path, names)``."""
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
