"""Texts: by Keras's ``TextVectorization``, whose words a run makes without it.

What a profile leaves out a preview fills in (:func:`~gpupanel.domain.preview.with_detected`).
"""

from string import Template

from typing_extensions import override

from gpupanel.domain.data import Target, TextData
from gpupanel.domain.image_names import HIDDEN_NAMES
from gpupanel.domain.table_data import RECIPE_MEMBER
from gpupanel.planning.script.data_section import AS_UTF8, SourceScript
from gpupanel.planning.script.sections import items_of_set, joined, lines_for
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
# In the margin: C classes, K several labels at once, V values; P nobody need know the target;
# Q of Parquet, whose columns have types, X some of it; E other classes come after those of a model.
_TABLE = '''
  |def read_texts(path, names=None):
  |    """The names of classes or labels, the texts, and what is predicted of each."""
  |    table = read_table(path)
  |    x = np.array([*((text or "") for text in table[TEXT].to_pylist()), None], object)[:-1]
P |    if not TARGETS or not all(name in table for name in TARGETS):
P |        return names or [], x, None
vk|    cells = table[TARGETS[0]]
vk|    labels, are_texts = texts(cells), is_text_type(cells.type)
vk|    if names is None or not {*labels, None} <= {*names, None}:  # or written otherwise
vk|        try:
vkQx|            if are_texts:
vkQX|            if path.lower().endswith(".parquet") and are_texts:
vkQ|                raise ValueError
vk|            if are_texts and any(re.match("0[0-9]", label or "") for label in labels):
vk|                raise ValueError  # 007 is another name than 7
vk|            labels = exact(cells)
vk|            names = names or sorted({*labels} - {None}, key=Decimal)
vk|        except ValueError:
vk|            names = names or sorted({label for label in labels if label is not None})
vkE|    names = [*names, *sorted({*labels} - {None, *names})]
vk|    lacking = np.array([label is None for label in labels])
vk|    y = np.array([-1 if label is None else names.index(label) for label in labels], np.int32)
V |    names = []
K |    names = names or list(TARGETS)
V |    y = np.stack([numbers(table[name]) for name in TARGETS], axis=1)
K |    y = np.stack([numbers(table[name]) for name in TARGETS], axis=1)
V |    lacking = np.isnan(y).any(axis=1)
K |    lacking = np.isnan(y).any(axis=1)
V |    y = y[:, 0] if len(TARGETS) == 1 else y
P |    if lacking.any():
P |        return names, x, None
  |    return names, x[~lacking], y[~lacking]
'''
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
# In the margin: M the words are those that a saved model knows.
_VECTORIZED = '''
m|# The words of those texts that are trained on, and of no others.
 |with tf.device("/device:CPU:0"):
m|    vectorize = keras.layers.TextVectorization($most, output_sequence_length=LENGTH)
m|    vectorize.adapt(tf.data.Dataset.from_tensor_slices(list(x)).batch(1024))
M|    vectorize = keras.layers.TextVectorization(len(WORDS) + 2, output_sequence_length=LENGTH)
M|    vectorize.set_vocabulary(WORDS)
 |
 |
 |def numbered(texts):
 |    """The numbers of the words, 0 where there is none; without words a text is an unknown one."""
 |    parts = [list(texts[begin : begin + 1024]) for begin in range(0, len(texts), 1024)]
 |    with tf.device("/device:CPU:0"):
 |        found = np.concatenate([np.float32(vectorize(tf.constant(part))) for part in parts])
 |    found[found[:, 0] == 0, 0] = 1
 |    return found
'''
_KEPT_IN_MODEL = """
m|import json
m|import zipfile
m|
 |# Who predicts with the model has to take the same words.
m|recipe = {
m|    "schema_version": 1,
m|    "words": vectorize.get_vocabulary()[2:],
m|    "length": LENGTH,
m|    "empty_words": $words,
M|recipe |= {
 |    "text": TEXT or "",
 |    "targets": TARGETS,
 |    "predicts": "$predicts",
 |    "class_names": class_names,
 |}
 |with zipfile.ZipFile("model.keras", "a") as archive:
 |    archive.writestr("$member", json.dumps(recipe))
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
        text = lines_for(_VECTORIZED, "M" if from_model else "")
        made = ", ".join(f"numbered({name})" for name in names)
        return joined(
            Template(text).substitute(most=data.vocabulary), f"{', '.join(names)} = {made}"
        )

    @override
    def kept_in_model(self, data: TextData, *, from_model: bool = False) -> str:
        text = lines_for(_KEPT_IN_MODEL, "M" if from_model else "")
        target = data.target_kind or Target.CLASSES
        return Template(text).substitute(
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
    kinds = {path.lower().endswith(".parquet") for path in sets.values() if path}
    holds = {
        "C": target is Target.CLASSES,
        "K": target is Target.LABELS,
        "V": target is Target.VALUES,
        "P": not needs_labels,
        "Q": True in kinds,
        "X": len(kinds) > 1,
        "E": is_evaluated,
    }
    read = lines_for(_TABLE, [each for each in holds if holds[each]])
    return joined(table_functions(data, *filter(None, sets.values())), read, *lines, *count)


SCRIPT = _Text()
