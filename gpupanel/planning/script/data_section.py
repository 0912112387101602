"""The script's data: features ``x``, labels ``y``, and those held back for validation."""

from typing import assert_never

from gpupanel.domain.data import DigitsData, ImagesData, KerasData, NpzData

_SPLIT = """
order = np.random.default_rng([SEED, 0]).permutation(len(x))
held_back = round(len(x) * {fraction})
x_val, y_val = x[np.sort(order[:held_back])], y[np.sort(order[:held_back])]
x, y = x[np.sort(order[held_back:])], y[np.sort(order[held_back:])]
"""

_IMAGES = """
from pathlib import Path

from PIL import Image, ImageOps

SUFFIXES = {{".png", ".jpg", ".jpeg", ".bmp", ".gif", ".webp", ".tif", ".tiff", ".ppm"}}


def picture(path):
    with Image.open(path) as image:
        image = ImageOps.exif_transpose(image).convert("{mode}")
        image = image.resize(({width}, {height}), Image.Resampling.BILINEAR)
        return np.asarray(image, np.uint8).reshape({height}, {width}, {channels})


folders = sorted(folder for folder in Path({path!r}).iterdir() if folder.is_dir())
files = [
    (path, number)
    for number, folder in enumerate(folders)
    for path in sorted(folder.iterdir())
    if path.suffix.lower() in SUFFIXES
]
x = np.stack([picture(path) for path, _ in files])
y = np.array([number for _, number in files], np.int32)
class_count, greatest = len(folders), 255.0
"""

_WORDS = """
WORDS = {words}


def multi_hot(texts):
    rows = np.zeros((len(texts), WORDS), np.uint8)
    for row, text in zip(rows, texts):
        row[np.asarray(text, np.int64) - 1] = 1
    return rows


(x, y), (x_test, y_test) = keras.datasets.{name}.load_data(
    num_words=WORDS + 1, start_char=None, oov_char=None, index_from=0
)
x, x_test = multi_hot(x), multi_hot(x_test)
y, y_test = y.astype(np.int32), y_test.astype(np.int32)
class_count, greatest = int(y.max()) + 1, 1.0
"""

_PICTURES = """
(x, y), (x_test, y_test) = keras.datasets.{name}.load_data()
y, y_test = y.reshape(-1).astype(np.int32), y_test.reshape(-1).astype(np.int32)
class_count, greatest = int(y.max()) + 1, 255.0
"""

_VALUES = """
(x, y), (x_test, y_test) = keras.datasets.{name}.load_data()
x, x_test = x.astype(np.float32), x_test.astype(np.float32)
y, y_test = y.astype(np.float32), y_test.astype(np.float32)
"""

_NPZ = """
with np.load({path!r}, allow_pickle=False) as arrays:
    x, y = arrays[{features!r}], arrays[{labels!r}].astype(np.int32)
class_count = {class_count}
greatest = 255.0 if x.dtype == np.uint8 else 1.0
x = x if x.dtype == np.uint8 else x.astype(np.float32)
"""

_DIGITS = """
from sklearn.datasets import load_digits

x, y = load_digits(return_X_y=True)
x, y = x.reshape(-1, 8, 8).astype(np.uint8), y.astype(np.int32)
class_count, greatest = 10, 16.0
"""

WORD_COUNT = 5_000
"""Most frequent words that texts are told apart by."""


ScriptedData = DigitsData | KerasData | NpzData | ImagesData
"""What a script can read by itself."""


def data_section(data: ScriptedData) -> str:
    """Python that reads the data and holds back the validation examples."""
    has_test_set = isinstance(data, KerasData)
    if data.validation_fraction:
        held_back = _SPLIT.format(fraction=data.validation_fraction)
    elif has_test_set and data.validation_fraction is None:
        held_back = "x_val, y_val = x_test, y_test"
    else:
        held_back = "x_val, y_val = x[:0], y[:0]  # nothing is held back"
    return _reading(data).strip("\n") + "\n" + held_back.strip("\n")


def _reading(data: ScriptedData) -> str:
    match data:
        case DigitsData():
            return _DIGITS
        case KerasData(source="imdb" | "reuters"):
            return _WORDS.format(name=data.source, words=WORD_COUNT)
        case KerasData(source="boston_housing" | "california_housing"):
            return _VALUES.format(name=data.source)
        case KerasData():
            return _PICTURES.format(name=data.source)
        case NpzData():
            return _NPZ.format(
                path=data.path,
                features=data.features,
                labels=data.labels,
                class_count=data.class_count or "int(y.max()) + 1",
            )
        case ImagesData():
            height, width = data.image_size
            rgb = data.color == "rgb"
            return _IMAGES.format(
                path=data.path,
                height=height,
                width=width,
                mode="RGB" if rgb else "L",
                channels=3 if rgb else 1,
            )
    assert_never(data)
