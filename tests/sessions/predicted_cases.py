"""Data of every source, and the models that fit it: what is predicted on in every way."""

import io
import json
import pickle
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from gpupanel.domain.data import (
    DataSettings,
    DigitsData,
    ImagesData,
    KerasData,
    NpzData,
    PythonData,
    TableData,
    Target,
    TextData,
    TfdsData,
    TfrecordData,
    WineData,
)
from gpupanel.domain.kind import kinds_of
from gpupanel.domain.model import (
    ApplicationModel,
    CnnModel,
    MlpModel,
    ModelSettings,
    PythonModel,
    ResNetModel,
    SavedModel,
    TabularModel,
    TransformerModel,
)
from gpupanel.domain.model_fit import shape_misfit
from gpupanel.domain.value import Value
from gpupanel.trainer.datasets.source import Reading, no_download, read_data
from gpupanel.trainer.datasets.sources.digits import read_digits
from tests.unit.trainer.record_files import example, write_records
from tests.unit.trainer.test_tfds_source import make_prepared
from tests.unit.trainer.text_folders import make_texts, reviews, write_table

SIDE = 32
"""Of images: the least that the smallest architectures take."""
_COUNT = 24
_RANDOM = np.random.default_rng(12)
_COLOURS = ("röt", "grün", "it's blue")
MODEL_CODE = """
import keras


def build_model(input_shape, outputs):
    inputs = keras.Input(input_shape)
    hidden = keras.layers.Flatten()(inputs)
    hidden = keras.layers.Dense(6, activation="tanh")(keras.layers.BatchNormalization()(hidden))
    return keras.Model(inputs, keras.layers.Dense(outputs)(hidden))
"""
_PIXELS_CODE = """
import numpy as np


def load():
    x = np.load({path!r})
    return {{"x": x, "y": np.arange(len(x)) % 3, "class_names": ["one", "two", "three"]}}
"""
_VALUES_CODE = """
import numpy as np


def load():
    x = np.load({path!r})
    return x, x[:, 0] * 30.0 + x[:, 1]
"""


@dataclass(frozen=True)
class Case:
    """Data, and what of it is given to ``predict.py``.

    Attributes:
        shape: Of one example.
        inputs: The raw files, all examples in the order of the data; none: those that the
            predictions name, in the folder of the data.
        models: By their kinds; none: every one that fits. Further forms of a source's data have
            some of them.
    """

    data: DataSettings
    shape: tuple[int, ...]
    inputs: tuple[Path, ...] = ()
    models: tuple[str, ...] = ()

    def fitting(self) -> tuple[str, ...]:
        """The kinds of model that are trained on it."""
        fitting = (name for name, each in MODELS.items() if self._fits(each))
        return self.models or tuple(fitting)

    def _fits(self, model: ModelSettings) -> bool:
        return shape_misfit(model, self.data, self.shape) is None


MODELS: Mapping[str, ModelSettings] = {
    each.source: each
    for each in (
        MlpModel(hidden=(32,)),
        CnnModel(filters=(8,), hidden=()),
        ResNetModel(filters=(4,), blocks=1),
        TransformerModel(width=8, heads=2, blocks=1),
        TabularModel(hidden=(8,)),
        ApplicationModel(source="MobileNet"),
        SavedModel(),
        PythonModel(),
    )
}
"""One of each kind; the architectures are one, with a small network in place of their base."""


def types_of(union: object) -> set[type[Value]]:
    """The types of all kinds that a table of a profile can be of; data of Keras's is one."""
    return {kind.values for kind in kinds_of(union)}


def make_cases(root: Path) -> dict[str, Case]:
    """Write the data of every case below a folder; Keras's cache is ``keras`` in it."""
    cases: dict[str, Case] = {}
    for make in (_bundled, _of_keras, _arrays, _images, _tables, _texts, _records, _code):
        cases |= dict(make(root))
    return cases


Made = Iterator[tuple[str, Case]]


def _saved(path: Path, array: np.ndarray) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    np.save(path, array)
    return path


def _pixels(count: int = _COUNT) -> np.ndarray:
    """Each image has a brightness of its own, so that a network gives each other numbers."""
    drawn = _RANDOM.integers(0, 80, (count, SIDE, SIDE, 3))
    brightness = np.linspace(0, 175, count).reshape(-1, 1, 1, 1)
    return (drawn + brightness).astype(np.uint8)


def _bundled(root: Path) -> Made:
    digits = np.asarray(read_digits().training.features)
    yield "digits", Case(DigitsData(), (8, 8), (_saved(root / "digits.npy", digits),))
    training = read_data(WineData(), Reading(no_download)).training
    wines = training.read(np.arange(len(training), dtype=np.int32))
    yield "wine", Case(WineData(), (13,), (_saved(root / "wine.npy", wines),))


def _of_keras(root: Path) -> Made:
    cache = root / "keras" / "datasets"
    folder = cache / "cifar-10-batches-py-target" / "cifar-10-batches-py"
    folder.mkdir(parents=True)
    pixels = _pixels(60)
    for number in range(6):
        name = "test_batch" if number == 5 else f"data_batch_{number + 1}"
        part = np.transpose(pixels[10 * number : 10 * number + 10], (0, 3, 1, 2))
        batch = {b"data": part.reshape(10, -1), b"labels": list(range(10))}
        (folder / name).write_bytes(pickle.dumps(batch, protocol=2))
    inputs = (_saved(root / "cifar.npy", pixels),)
    yield "cifar10", Case(KerasData(source="cifar10"), (SIDE, SIDE, 3), inputs)
    houses = _RANDOM.random((50, 8))
    np.savez(cache / "california_housing.npz", x=houses, y=houses.sum(axis=1) * 1e5)
    order = np.arange(50)
    np.random.RandomState(113).shuffle(order)  # as Keras puts them
    inputs = (_saved(root / "houses.npy", houses[order]),)
    yield "housing", Case(KerasData(source="california_housing"), (8,), inputs, ("mlp", "table"))


def _arrays(root: Path) -> Made:
    pixels = _pixels()
    first = np.ascontiguousarray(np.transpose(pixels, (0, 3, 1, 2)))
    np.savez(root / "first.npz", x=first, y=np.arange(_COUNT) % 3)
    data = NpzData(path=str(root / "first.npz"), axes="channels_first")
    inputs = (_saved(root / "last.npy", pixels),)
    yield "npz, channels first", Case(data, (SIDE, SIDE, 3), inputs)
    rows = _RANDOM.normal(size=(_COUNT, 5)).astype(np.float32)
    inputs = (_saved(root / "rows.npy", rows),)
    np.savez(root / "tags.npz", x=rows, y=(rows[:, :3] > 0).astype(np.uint8))
    yield "npz, labels", Case(NpzData(path=str(root / "tags.npz")), (5,), inputs)
    np.savez(root / "values.npz", x=rows, y=rows[:, :2] * [30.0, 0.1] + 900.5)
    data = NpzData(path=str(root / "values.npz"))
    yield "npz, values", Case(data, (5,), inputs, ("mlp",))
    np.savez(root / "two.npz", x=rows, y=(rows[:, 0] > 0).astype(int))
    yield "npz, two classes", Case(NpzData(path=str(root / "two.npz")), (5,), inputs, ("mlp",))


def _images(root: Path) -> Made:
    shape = (SIDE, SIDE, 3)
    folder = root / "images"
    for number, pixels in enumerate(_pixels()):
        place = folder / _COLOURS[number % 3]
        place.mkdir(parents=True, exist_ok=True)
        sides = (40 + number, 90 - number)
        shown = Image.fromarray(pixels).resize(sides)
        shown.save(place / f"{number}.{('png', 'jpg', 'bmp')[number % 3]}")
    yield "images", Case(ImagesData(path=str(folder), image_size=(SIDE, SIDE)), shape)
    deep = root / "deep"
    deep.mkdir()
    lines = ["file,sea,sun"]
    for number, pixels in enumerate(_pixels()):
        grey = pixels[..., 0].astype(np.uint16) * 16
        Image.fromarray(grey).save(deep / f"{number:02}.png")
        lines.append(f"{number:02}.png,{number % 2},{int(number % 3 > 0)}")
    (deep / "labels.csv").write_text("\n".join(lines) + "\n")
    data = ImagesData(
        path=str(deep),
        labels_csv="labels.csv",
        image_size=(SIDE, SIDE),
        color="grayscale",
        white_value=4095,
    )
    yield "images of 16 bits, labels", Case(data, (SIDE, SIDE, 1), (), ("mlp", "MobileNet"))
    lines = ["file;price", *(f"{number:02}.png;{number * 9.5}" for number in range(_COUNT))]
    (deep / "prices.csv").write_text("\n".join(lines) + "\n")
    data = data.model_copy(update={"labels_csv": "prices.csv", "white_value": None})
    yield "images of 16 bits, values", Case(data, (SIDE, SIDE, 1), (), ("resnet",))


def _tables(root: Path) -> Made:
    names = ("classes", "labels", "values", "amounts")
    lines = {
        "classes": ["size,town,built,kind"],
        "labels": ["size,town,built,warm,dry"],
        "values": ["size,town,built,price"],
        "amounts": ["size;town;built;price;rent"],
    }
    for row in range(60):
        size = "" if row % 7 == 3 else f"{50 * _RANDOM.random():.3f}"
        town = ("Köln", "Bonn", '"a, b"')[row % 3]
        day = "" if row % 13 == 2 else f"{row % 28 + 1:02}.0{row % 9 + 1}.2024"
        given = f"{size},{town},{day}"
        lines["classes"].append(f"{given},{_COLOURS[row % 3]}")
        lines["labels"].append(f"{given},{row % 2},{int(row % 3 > 0)}")
        lines["values"].append(f"{given},{1000 + 3.5 * row}")
        amount = f"{1 + row}.{row % 10}00,50"
        lines["amounts"].append(f"{size.replace('.', ',')};{town};{day};{amount};{row},5")
    for name in names:
        coding = "cp1252" if name == "amounts" else "utf-8"
        (root / f"{name}.csv").write_text("\n".join(lines[name]) + "\n", encoding=coding)
    targets: dict[str, object] = {
        "classes": "kind",
        "labels": ("warm", "dry"),
        "values": "price",
        "amounts": ("price", "rent"),
    }
    models = {"classes": (), "labels": ("mlp", "table"), "values": ("table",)}
    for name in names:
        path = root / f"{name}.csv"
        data = TableData(path=str(path), target=targets[name])
        chosen = models.get(name, ("mlp",))
        yield f"table, {name}", Case(data, (5,), (path,), chosen)


def _texts(root: Path) -> Made:
    kinds = {"good": ["ä fine, FINE film"], "bad": ["a dull film"]}
    for number, (text, good) in enumerate(reviews(_COUNT)):
        kinds["good" if good > 1 else "bad"].append(f"{text} x{number}")
    folder = make_texts(root / "texts", kinds)
    data = TextData(path=str(folder), vocabulary=30, length=9)
    inputs = tuple(sorted(folder.rglob("*.txt")))
    yield "texts", Case(data, (9,), inputs)
    path = write_table(root / "reviews.csv", [(text, good * 1.5) for text, good in reviews(40)])
    data = TextData(path=str(path), vocabulary=30, length=9, predicts=Target.VALUES)
    yield "texts, values", Case(data, (9,), (path,), ("transformer",))
    path = write_table(
        root / "tagged.csv",
        [(text, f"{good % 2},{int(good > 1)}") for text, good in reviews(40)],
        "review,odd,good",
    )
    data = TextData(
        path=str(path), vocabulary=30, length=9, target=("odd", "good"), predicts=Target.LABELS
    )
    yield "texts, labels", Case(data, (9,), (path,), ("mlp",))


def _encoded(pixels: np.ndarray) -> bytes:
    file = io.BytesIO()
    Image.fromarray(pixels).resize((50, 41)).save(file, "PNG")
    return file.getvalue()


def _encoded_images(folder: Path) -> tuple[list[bytes], tuple[Path, ...]]:
    folder.mkdir()
    images = [_encoded(each) for each in _pixels()]
    paths = tuple(folder / f"{number:02}.png" for number in range(_COUNT))
    for path, content in zip(paths, images, strict=True):
        path.write_bytes(content)
    return images, paths


def _records(root: Path) -> Made:
    shape = (SIDE, SIDE, 3)
    images, paths = _encoded_images(root / "of records")
    records = [
        example(image=each, label=_COLOURS[number % 3].encode())
        for number, each in enumerate(images)
    ]
    path = write_records(root / "images.tfrecord", records)
    yield "records", Case(TfrecordData(path=str(path), image_size=(SIDE, SIDE)), shape, paths)
    rows = _RANDOM.normal(size=(_COUNT, 5)).astype(np.float32)
    tagged = [example(x=row, tags=(row[:3] > 0).astype(int)) for row in rows]
    path = write_records(root / "tags.tfrecord", tagged)
    data = TfrecordData(path=str(path), labels="tags", predicts=Target.LABELS)
    inputs = (_saved(root / "of tags.npy", rows),)
    yield "records, labels", Case(data, (5,), inputs, ("mlp",))
    images, paths = _encoded_images(root / "of catalogue")
    place = make_prepared(root / "catalogue/tiny_cats/1.0.0", {"train": _COUNT}, _DESCRIBED)
    records = [example(image=each, label=number % 2) for number, each in enumerate(images)]
    write_records(place / "tiny_cats-train.tfrecord-00000-of-00001", records)
    described = {"pythonClassName": f"{_FEATURES}.features_dict.FeaturesDict"}
    features = {**described, "featuresDict": {"features": _DESCRIBED}}
    (place / "features.json").write_text(json.dumps(features))  # as the package itself wants it
    of_cats = TfdsData(name="tiny_cats", path=str(root / "catalogue"), image_size=(SIDE, SIDE))
    yield "catalogue", Case(of_cats, shape, paths)


_FEATURES = "tensorflow_datasets.core.features"
_DESCRIBED: dict[str, object] = {
    "image": {
        "pythonClassName": f"{_FEATURES}.image_feature.Image",
        "image": {"dtype": "uint8", "shape": {"dimensions": ["-1", "-1", "3"]}},
    },
    "label": {
        "pythonClassName": f"{_FEATURES}.class_label_feature.ClassLabel",
        "classLabel": {"numClasses": "2"},
    },
}


def _code(root: Path) -> Made:
    pixels = _saved(root / "code.npy", _pixels())
    (root / "pixels.py").write_text(_PIXELS_CODE.format(path=str(pixels)))
    yield "code", Case(PythonData(path=str(root / "pixels.py")), (SIDE, SIDE, 3), (pixels,))
    rows = _saved(root / "code of values.npy", _RANDOM.normal(size=(_COUNT, 4)))
    (root / "values.py").write_text(_VALUES_CODE.format(path=str(rows)))
    data = PythonData(path=str(root / "values.py"), predicts=Target.VALUES)
    yield "code, values", Case(data, (4,), (rows,), ("mlp",))
