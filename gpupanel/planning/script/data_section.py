"""The script's data: features ``x`` and labels ``y``, read and divided as a run does.

Lists of files, conversions and the order of examples are those of ``trainer/datasets``; tests hold
the two together.
"""

from string import Template
from typing import assert_never

from gpupanel.domain.class_names import KERAS_CLASS_NAMES
from gpupanel.domain.data import (
    DataCache,
    DataSettings,
    DigitsData,
    ImagesData,
    KerasData,
    NpzData,
    PythonData,
    Target,
)
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

WORD_COUNT = 5_000
"""Most frequent words that texts are told apart by."""

_DIGITS = """
from sklearn.datasets import load_digits

x, y = load_digits(return_X_y=True)
x, y = x.reshape(-1, 8, 8).astype(np.uint8), y.astype(np.int32)
class_count = 10
"""

_PICTURES = """
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

ARRAYS = {"numpy.core.multiarray._reconstruct", "numpy._core.multiarray._reconstruct"}
ARRAYS |= {"numpy.ndarray", "numpy.dtype", "_codecs.encode"}


class ArraysOnly(pickle.Unpickler):
    def find_class(self, module, name):
        if f"{module}.{name}" in ARRAYS:
            return super().find_class(module, name)
        raise pickle.UnpicklingError(f"{module}.{name} is not part of an array")


def batch(name):
    with open(folder / name, "rb") as file:
        found = ArraysOnly(file, encoding="bytes").load()
    pixels = np.asarray(found[b"data"], np.uint8).reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
    return pixels, np.asarray(found[$labels], np.int32)


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
WORDS = $words


def multi_hot(texts):
    rows = np.zeros((len(texts), WORDS), np.uint8)
    for row, text in zip(rows, texts):
        row[np.array([word for word in text if 1 <= word <= WORDS], np.int64) - 1] = 1
    return rows


(x, y), (x_test, y_test) = keras.datasets.$name.load_data(
    num_words=WORDS + 1, start_char=None, oov_char=None, index_from=0
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

_ARRAYS = """
def features(array):
    array = np.asarray(array)
    array = array[:, np.newaxis] if array.ndim == 1 else array
    return array if array.dtype == np.uint8 else array.astype(np.float32)


def labels(array):
    array = np.asarray(array)
    return (array[:, 0] if array.ndim == 2 else array).astype(np.$kind)
"""

_ARRAYS_OF = {
    Target.CLASSES: Template(_ARRAYS).substitute(kind="int32"),
    Target.VALUES: Template(_ARRAYS).substitute(kind="float32"),
}

_NPZ = """
with np.load($path, allow_pickle=False) as arrays:
    x, y = features(arrays[$features]), $labels
class_count = $class_count
"""

_PYTHON = """
random.seed(SEED)
np.random.seed(SEED)
loaded = carried_out($path, "data_code").load()
if isinstance(loaded, tuple) and all(isinstance(part, tuple) and len(part) == 2 for part in loaded):
    loaded = dict(zip(("x", "y", "x_test", "y_test"), (*loaded[0], *loaded[1])))
elif isinstance(loaded, tuple):
    loaded = dict(zip(("x", "y"), loaded))
x, y = features(loaded["x"]), labels(loaded["y"])
x_test, y_test = x[:0], y[:0]
if "x_test" in loaded:
    x_test, y_test = features(loaded["x_test"]), labels(loaded["y_test"])
"""

_PYTHON_CLASSES = """
class_names = loaded.get("class_names") or range(int(y.max()) + 1)
class_count = len(class_names)
"""

_IMAGES = """
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from PIL import Image, ImageOps

SUFFIXES = {".png", ".jpg", ".jpeg", ".bmp", ".gif", ".webp", ".tif", ".tiff", ".ppm"}


def picture(path):
    with Image.open(path) as image:
        image = ImageOps.exif_transpose(image).convert($mode)
        image = image.resize(($width, $height), Image.Resampling.BILINEAR)
        return np.asarray(image, np.uint8).reshape($height, $width, $channels)


class Pictures:
    \"\"\"Reads pictures when they are asked for, as an array gives its rows.\"\"\"

    def __init__(self, paths):
        self.paths, self.shape = paths, (len(paths), $height, $width, $channels)

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, rows):
        with ThreadPoolExecutor(8) as pool:
            pixels = list(pool.map(picture, self.paths[rows]))
        return np.stack(pixels) if pixels else np.zeros((0, *self.shape[1:]), np.uint8)


folders = [path for path in sorted(Path($path).iterdir()) if path.is_dir()]
folders = [path for path in folders if not path.name.startswith(".")]
files = [
    (path, number)
    for number, folder in enumerate(folders)
    for path in sorted(folder.rglob("*"))
    if path.suffix.lower() in SUFFIXES
]
x = np.array([path for path, _ in files], object)
y = np.array([number for _, number in files], np.int32)
class_count = len(folders)
"""

_SPLIT = """
order = np.random.default_rng([SEED, 0]).permutation(len(x))
held_back, kept = np.split(order, [round(len(x) * $fraction)])
held_back, kept = np.sort(held_back), np.sort(kept)
x_val, y_val, x, y = x[held_back], y[held_back], x[kept], y[kept]
"""


def data_section(data: DataSettings) -> str:
    """Python that reads the data and holds back ``x_val`` and ``y_val``, where something is.

    Images that are not to be kept in memory are read whenever they are needed.
    """
    if data.validation_fraction:
        split = Template(_SPLIT).substitute(fraction=data.validation_fraction)
        return joined(read_data(data), split, pictures(data, "x", "x_val"))
    held_back = "x_val, y_val = x_test, y_test" if has_test_set(data) else ""
    return joined(read_data(data), held_back, pictures(data, "x"))


def read_data(data: DataSettings, *, needs_labels: bool = True) -> str:
    """Python that reads the whole source; images are paths still.

    Args:
        data: The source.
        needs_labels: Without it ``y`` may become ``None``.
    """
    match data:
        case DigitsData():
            return _DIGITS
        case KerasData():
            return _keras(data)
        case NpzData():
            read = f"labels(arrays[{data.labels!r}])"
            counted = "int(y.max()) + 1"
            if not needs_labels:
                read += f" if {data.labels!r} in arrays else None"
                counted = f"0 if y is None else {counted}"
            arrays = Template(_NPZ).substitute(
                path=repr(data.path),
                features=repr(data.features),
                labels=read,
                class_count=data.class_count or counted,
            )
            return joined(_ARRAYS_OF[Target.CLASSES], arrays)
        case ImagesData():
            rgb, (height, width) = data.color == "rgb", data.image_size
            return Template(_IMAGES).substitute(
                path=repr(data.path),
                mode=repr("RGB" if rgb else "L"),
                channels=3 if rgb else 1,
                height=height,
                width=width,
            )
        case PythonData():
            names = _PYTHON_CLASSES.strip("\n") if data.target is Target.CLASSES else ""
            read = Template(_PYTHON).substitute(path=repr(data.path))
            return joined(_ARRAYS_OF[data.target], read + names)
    assert_never(data)


def pictures(data: DataSettings, *names: str) -> str:
    """Python that turns the paths of images into what gives their pixels; else nothing."""
    if not isinstance(data, ImagesData):
        return ""
    # What is decoded to disk would be deleted at the end: here it is decoded again.
    pixels = "Pictures({})[:]" if data.cache is DataCache.MEMORY else "Pictures({})"
    return f"{', '.join(names)} = {', '.join(pixels.format(name) for name in names)}"


def has_test_set(data: DataSettings) -> bool:
    """Whether the source brings examples that it does not train on, as far as is known."""
    return data.validation_fraction is None and isinstance(data, KerasData | PythonData)


def _keras(data: KerasData) -> str:
    name = data.source
    if data.target is Target.VALUES:
        return Template(_VALUES).substitute(name=name)
    classes = len(KERAS_CLASS_NAMES[name])
    if name in _CIFAR_FILES:
        return Template(_CIFAR).substitute(_CIFAR_FILES[name], name=name, classes=classes)
    if name not in ("imdb", "reuters"):
        return Template(_PICTURES).substitute(name=name, classes=classes)
    order = _FILES_ORDER.strip("\n") if name == "imdb" else ""
    return Template(_WORDS).substitute(name=name, words=WORD_COUNT, classes=classes, order=order)
