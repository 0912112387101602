"""Keras's built-in data sets, by Keras itself where it reads them as a run does."""

from string import Template

from typing_extensions import override

from gpupanel.domain.data import KerasData, Target
from gpupanel.domain.keras_data import KERAS_CLASS_NAMES
from gpupanel.planning.script.data_section import SourceScript
from gpupanel.planning.script.parts import part
from gpupanel.planning.script.sections import joined

_CIFAR_FILES = {
    "cifar10": {
        "place": "cifar-10-batches-py-target/cifar-10-batches-py",
        "training": '[f"data_batch_{part}" for part in range(1, 6)]',
        "test": "test_batch",
        "labels": 'b"labels"',
    },
    "cifar100": {
        "place": "cifar-100-python-target/cifar-100-python",
        "training": '["train"]',
        "test": "test",
        "labels": 'b"fine_labels"',
    },
}
"""In Keras's cache. Keras itself fetches the archive again where only its content is there."""

_IMAGES = """
(x, y), (x_test, y_test) = keras.datasets.$name.load_data()
y, y_test = y.reshape(-1).astype(np.int32), y_test.reshape(-1).astype(np.int32)
class_count = $classes
"""

_CIFAR = """
import os
import pickle
from pathlib import Path

home = os.environ.get("KERAS_HOME")
home = Path(home).expanduser() if home else Path.home() / ".keras"
folder = home / "datasets" / "$place"
if not (folder / "$test").is_file():
    keras.datasets.$name.load_data()  # downloads it there


def batch(name):
    with open(folder / name, "rb") as file:
        pixels, labels = cifar_batch(file, $labels)
    return pixels, labels.astype(np.int32)


x, y = map(np.concatenate, zip(*(batch(name) for name in $training)))
x_test, y_test = batch("$test")
class_count = $classes
"""

_VALUES = """
(x, y), (x_test, y_test) = keras.datasets.$name.load_data()
x, x_test = x.astype(np.float32), x_test.astype(np.float32)
y, y_test = y.reshape(-1).astype(np.float32), y_test.reshape(-1).astype(np.float32)
"""

_WORDS = """
(x, y), (x_test, y_test) = keras.datasets.$name.load_data(
    num_words=WORD_COUNT + 1, start_char=None, oov_char=None, index_from=0
)
$order
x, x_test = multi_hot(x), multi_hot(x_test)
y, y_test = y.astype(np.int32), y_test.astype(np.int32)
class_count = $classes
"""

_FILES_ORDER = """
# Keras shuffles these texts by its own seed; here they are in the file's order.
shuffled = np.random.RandomState(113)
places = [shuffled.permutation(len(labels)) for labels in (y, y_test)]
(x, y), (x_test, y_test) = (
    ([texts[place] for place in np.argsort(order)], labels[np.argsort(order)])
    for texts, labels, order in ((x, y, places[0]), (x_test, y_test, places[1]))
)
"""


class _Keras(SourceScript[KerasData]):
    """Python that loads one of them."""

    @override
    def read(self, data: KerasData, *, needs_labels: bool) -> str:
        name = data.source
        if data.target_kind is Target.VALUES:
            return Template(_VALUES).substitute(name=name)
        classes = len(KERAS_CLASS_NAMES[name])
        if name in _CIFAR_FILES:
            read = Template(_CIFAR).substitute(_CIFAR_FILES[name], name=name, classes=classes)
            needed = part("restricted_pickle"), part("keras_arrays", "cifar_batch")
            return joined(*needed, read)
        if data.has_images:
            return Template(_IMAGES).substitute(name=name, classes=classes)
        order = _FILES_ORDER.strip("\n") if name == "imdb" else ""
        read = Template(_WORDS).substitute(name=name, classes=classes, order=order)
        return joined(part("keras_arrays", "multi_hot", "WORD_COUNT"), read)

    @override
    def class_names(self, data: KerasData) -> str:
        return f"class_names = {list(KERAS_CLASS_NAMES[data.source])!r}"


SCRIPT = _Keras()
