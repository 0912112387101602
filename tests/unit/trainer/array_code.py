"""Data and models of a person's own whose labels are arrays, or whose loss is their own."""

from collections.abc import Sequence
from pathlib import Path

from gpupanel.domain.data import DataCache, PythonData, Target
from gpupanel.domain.model import PythonModel
from gpupanel.domain.profile import Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.domain.strategy import StrategySettings
from gpupanel.domain.training import TrainingSettings
from tests.unit.trainer.conftest import MakeRun
from tests.unit.trainer.trained_runs import ONE_DEVICE, profile

_SCENES = """
import numpy as np

def scenes(count=300):
    random = np.random.default_rng(3)
    x = random.random((count, 8, 8, 1)).astype("float32")
    return x, (x[..., 0] > 0.4).astype("int64") + (x[..., 0] > 0.7)
"""
MASKS = (
    _SCENES
    + """
def load():
    x, y = scenes()
    return {"x": x, "y": y[..., None], "class_names": ["low", "mid", "high"]}
"""
)
FLAGS = (
    _SCENES
    + """
def load():
    x, y = scenes()
    return {"x": x, "y": y > 0}
"""
)
PIXELS = (
    _SCENES
    + """
def load():
    return {"x": (scenes()[0] * 255).astype("uint8")}
"""
)
ROWS = (
    _SCENES
    + """
class Rows:
    def __init__(self, x):
        self.x = x

    def __len__(self):
        return len(self.x)

    def __getitem__(self, index):
        return self.x[index]

def load():
    return {"x": Rows((scenes()[0] * 255).astype("uint8"))}
"""
)
SERIES = """
import numpy as np

def load():
    random = np.random.default_rng(3)
    x = random.normal(size=(300, 6, 3)).astype("float32")
    return x, np.cumsum(x[..., :2], axis=1)
"""
SERIES_ROWS = (
    SERIES
    + """
_load = load

class Rows:
    def __init__(self, x):
        self.x = x

    def __len__(self):
        return len(self.x)

    def __getitem__(self, index):
        return self.x[index]

def load():
    x, y = _load()
    return Rows(x), y
"""
)
TASKS = (
    _SCENES
    + """
def load():
    x, y = scenes()
    spread = x.std(axis=(1, 2, 3)) * 10
    tags = np.stack([x[:, 0, 0, 0] > 0.5, x[:, 1, 1, 0] > 0.5], axis=1)
    labels = {"mask": y, "spread": spread, "tags": tags, "corner": y[:, 0, 0]}
    predicts = {"spread": "values", "tags": "labels"}
    return {"x": x, "y": labels, "predicts": predicts, "class_names": {"corner": ["a", "b", "c"]}}
"""
)
FLAT = """
import numpy as np

def load():
    x = np.random.default_rng(3).normal(size=(300, 3)).astype("float32")
    return x, x[:, 0] + x[:, 1]
"""
LINE = """
import keras

def build_model(input_shape, outputs):
    return keras.Sequential([keras.Input(input_shape), keras.layers.Dense(outputs)])

def loss(labels, outputs):
    return keras.ops.square(outputs[:, 0] - labels)
"""
"""A row of outputs, of which a loss of one's own alone knows what they mean."""
INPUTS = (
    _SCENES
    + """
def load():
    x, y = scenes()
    random = np.random.default_rng(4)
    row = random.normal(size=(len(x), 3)).astype("float32")
    words = random.integers(0, 20, size=(len(x), 5))
    named = (y[:, 0, 0] + (row[:, 0] > 0) + (words[:, 0] > 9)) % 3
    pixels = (x * 255).astype("uint8")
    return {"x": {"words": words, "scene": pixels, "row": row}, "y": named}
"""
)
INPUTS_ROWS = (
    INPUTS.replace("def load", "def _load")
    + """
class Rows:
    def __init__(self, x):
        self.x = x

    def __len__(self):
        return len(self.x)

    def __getitem__(self, index):
        return self.x[index]

def load():
    loaded = _load()
    return {**loaded, "x": {**loaded["x"], "scene": Rows(loaded["x"]["scene"])}}
"""
)
TWO_PICTURES = (
    _SCENES
    + """
def load():
    x, y = scenes()
    pixels = (x * 255).astype("uint8")
    return {"x": {"left": pixels, "right": pixels[:, :4]}, "y": y[:, 0, 0]}
"""
)
INPUTS_AND_TASKS = (
    _SCENES
    + """
def load():
    x, y = scenes()
    row = np.random.default_rng(4).normal(size=(len(x), 3)).astype("float32")
    given = {"scene": (x * 255).astype("uint8"), "row": row}
    labels = {"corner": y[:, 0, 0], "mask": y, "spread": x.std(axis=(1, 2, 3)) * 10 + row[:, 0]}
    return {
        "x": {name: each[:240] for name, each in given.items()},
        "y": {name: each[:240] for name, each in labels.items()},
        "x_test": {name: each[240:] for name, each in given.items()},
        "y_test": {name: each[240:] for name, each in labels.items()},
        "predicts": {"spread": "values"},
        "class_names": {"mask": ["low", "mid", "high"]},
    }
"""
)
U_NET = """
import keras
from keras import layers

def build_model(input_shape, outputs):
    inputs = keras.Input(input_shape)
    wide = layers.Conv2D(4, 3, padding="same", use_bias=False)(inputs)
    wide = layers.ReLU()(layers.BatchNormalization()(wide))
    deep = layers.Conv2D(8, 3, padding="same", activation="tanh")(layers.MaxPooling2D()(wide))
    both = layers.Concatenate()([wide, layers.UpSampling2D()(deep)])
    return keras.Model(inputs, layers.Conv2D(CHANNELS, 1, activation=ENDING)(both))
"""
TO_CLASSES = U_NET.replace("CHANNELS", "outputs[-1]").replace("ENDING", '"softmax"')
RIGHT = (
    TO_CLASSES
    + """
def right(labels, outputs):
    said = keras.ops.cast(keras.ops.argmax(outputs, axis=-1), labels.dtype)
    return keras.ops.mean(keras.ops.cast(said == labels, "float32"), axis=(1, 2))

metrics = {"right": right}
"""
)
TO_FLAG = U_NET.replace("CHANNELS", "1").replace("ENDING", '"sigmoid"')
CODER = """
import keras
from keras import layers

def build_model(input_shape, outputs):
    return keras.Sequential([
        keras.Input(input_shape),
        layers.Flatten(),
        layers.Dense(12, activation="tanh"),
        layers.Dense(64, activation="sigmoid"),
        layers.Reshape(outputs),
    ])
"""
SEQUENCE = """
import keras
from keras import layers, metrics, ops

def build_model(input_shape, outputs):
    return keras.Sequential([
        keras.Input(input_shape),
        layers.GRU(8, return_sequences=True),
        layers.Dense(outputs[-1]),
    ])
"""
OWN = (
    SEQUENCE
    + """
def loss(labels, outputs):
    error = ops.abs(outputs - labels)
    return ops.mean(ops.where(error < 1.0, 0.5 * error * error, error - 0.5), axis=(1, 2))

def last_error(labels, outputs):
    return ops.mean(ops.abs(outputs[:, -1] - labels[:, -1]), axis=1)

def is_near(labels, outputs):
    return ops.all(ops.abs(outputs - labels) < 3.0, axis=(1, 2))

metrics = {"last_error": last_error, "is_near": is_near}
"""
)
DIGITS = """
import keras
from keras import layers, ops

def build_model(input_shape, outputs):
    return keras.Sequential([
        keras.Input(input_shape),
        layers.Flatten(),
        layers.Dense(24, activation="tanh"),
        layers.Dense(outputs, activation="softmax"),
    ])

def certainty(labels, outputs):
    return ops.max(outputs, axis=1)

metrics = {"certainty": certainty}
"""
"""What follows from the labels is made small, and one number more is measured."""

JOINED = """
import keras
from keras import layers

def build_model(input_shape, outputs):
    scene = keras.Input(input_shape["scene"], name="scene")
    row = keras.Input(input_shape["row"], name="row")
    words = keras.Input(input_shape["words"], name="words", dtype="int32")
    seen = layers.Flatten()(layers.Conv2D(4, 3, use_bias=False)(scene))
    seen = layers.ReLU()(layers.BatchNormalization()(seen))
    read = layers.GlobalAveragePooling1D()(layers.Embedding(20, 4)(words))
    both = layers.Dropout(0.2)(layers.Concatenate()([seen, row, read]))
    return keras.Model([scene, row, words], layers.Dense(outputs, activation="softmax")(both))
"""
BOTH_PICTURES = """
import keras
from keras import layers

def build_model(input_shape, outputs):
    pictures = {name: keras.Input(shape, name=name) for name, shape in input_shape.items()}
    seen = layers.Concatenate()([layers.Flatten()(each) for each in pictures.values()])
    return keras.Model(pictures, layers.Dense(outputs)(seen))
"""
FOUR_TASKS = """
import keras
from keras import layers

def build_model(input_shape, outputs):
    inputs = keras.Input(input_shape)
    seen = layers.Conv2D(6, 3, padding="same", activation="tanh")(inputs)
    flat = layers.Dense(12, activation="tanh")(layers.Flatten()(seen))
    corner = layers.Dense(outputs["corner"], activation="softmax")(flat)
    return keras.Model(inputs, {
        "corner": corner,
        "mask": layers.Conv2D(outputs["mask"][-1], 1, activation="softmax")(seen),
        "spread": layers.Dense(1)(flat),
        "tags": layers.Dense(2, activation="sigmoid")(flat),
    })

loss_weights = {"mask": 0.5, "spread": 0.25}
"""
INPUTS_TO_TASKS = """
import keras
from keras import layers

def build_model(input_shape, outputs):
    scene = keras.Input(input_shape["scene"], name="scene")
    row = keras.Input(input_shape["row"], name="row")
    seen = layers.Conv2D(6, 3, padding="same", activation="tanh")(scene)
    both = layers.Concatenate()([layers.Flatten()(seen), row])
    flat = layers.Dense(12, activation="tanh")(both)
    return keras.Model([row, scene], {
        "mask": layers.Conv2D(outputs["mask"][-1], 1, activation="softmax")(seen),
        "corner": layers.Dense(outputs["corner"], activation="softmax")(flat),
        "spread": layers.Dense(1)(flat),
    })
"""
CHAINED_TASKS = FOUR_TASKS.replace("layers.Dense(1)(flat)", "layers.Dense(1)(corner)")
"""What one output ends in is given to the layer of another one."""
TWICE_TASKS = (
    FOUR_TASKS.replace('"corner": corner', '"corner": layers.Reshape((3,))(corner)')
    .replace("layers.Dense(1)(flat)", "layers.Dense(1)(corner)")
    .replace("(2, activation", "(2, name='tag', activation")
)
"""A reshape comes after what one output ends in, and another layer is given that, too."""
LISTED_TASKS = """
import keras
from keras import layers

def build_model(input_shape, outputs):
    inputs = keras.Input(input_shape)
    flat = layers.Flatten()(inputs)
    return keras.Model(inputs, [
        layers.Dense(2, name="tags", activation="sigmoid")(flat),
        layers.Dense(outputs["corner"], name="corner", activation="softmax")(flat),
        layers.Dense(1, name="spread")(flat),
        layers.Conv2D(outputs["mask"][-1], 1, name="mask", activation="softmax")(inputs),
    ])
"""
OWN_TASKS = (
    FOUR_TASKS.replace("loss_weights = ", "ignored = ")
    + """
def loss(labels, outputs):
    spread = keras.ops.square(outputs["spread"][:, 0] - labels["spread"])
    corner = keras.losses.sparse_categorical_crossentropy(labels["corner"], outputs["corner"])
    places = keras.losses.sparse_categorical_crossentropy(labels["mask"], outputs["mask"])
    tags = keras.losses.binary_crossentropy(labels["tags"], outputs["tags"])
    return 0.25 * spread + corner + 0.5 * keras.ops.mean(places, axis=(1, 2)) + tags

def off(labels, outputs):
    return keras.ops.abs(outputs["spread"][:, 0] - labels["spread"])

metrics = {"off": off}
"""
)
SQUARES = """
def loss(labels, outputs):
    squares = keras.ops.square(outputs - labels)
    return keras.ops.mean(squares, axis=tuple(range(1, len(squares.shape))))
"""

CODE = {
    "masks": (MASKS, RIGHT, Target.CLASSES),
    "flags": (FLAGS, TO_FLAG, Target.LABELS),
    "pixels": (PIXELS, CODER, Target.VALUES),
    "pixels one by one": (ROWS, CODER, Target.VALUES),
    "series": (SERIES, SEQUENCE, Target.VALUES),
    "own": (SERIES, OWN, Target.VALUES),
    "squares": (SERIES, SEQUENCE + SQUARES, Target.VALUES),
    "pixel squares": (PIXELS, CODER + SQUARES, Target.VALUES),
    "inputs": (INPUTS, JOINED, Target.CLASSES),
    "inputs, one by one": (INPUTS_ROWS, JOINED, Target.CLASSES),
    "two pictures": (TWO_PICTURES, BOTH_PICTURES, Target.CLASSES),
    "tasks": (TASKS, FOUR_TASKS, Target.CLASSES),
    "inputs to tasks": (INPUTS_AND_TASKS, INPUTS_TO_TASKS, Target.CLASSES),
    "own tasks": (TASKS, OWN_TASKS, Target.CLASSES),
    "rows": (FLAT, LINE, Target.VALUES),
    "own, one by one": (SERIES_ROWS, OWN, Target.VALUES),
}


def array_profile(
    name: str,
    folder: Path,
    training: TrainingSettings,
    strategy: StrategySettings = ONE_DEVICE,
) -> Profile:
    """A profile of the code of that name, which is written into the folder."""
    data, model, predicts = CODE[name]
    paths = []
    for text, of in ((data, "data"), (model, "model")):
        paths.append(folder / f"{name.replace(' ', '-')}-{of}.py")
        paths[-1].write_text(text)
    cache = DataCache.NONE if "one by one" in name else DataCache.MEMORY
    settings = PythonData(
        path=str(paths[0]), predicts=predicts, validation_fraction=0.2, cache=cache
    )
    return profile(training, strategy, data=settings, model=PythonModel(path=str(paths[1])))


def with_code(make_run: MakeRun) -> MakeRun:
    """Puts the copies of its Python files into a run's folder, as the launcher does."""

    def made(folder: Path, chosen: Profile, shares: Sequence[int]) -> RunLayout:
        layout = make_run(folder, chosen, shares)
        layout.code.mkdir()
        for path, kept in (
            (chosen.data.chosen_path, layout.data_code),
            (chosen.model.measures_path or chosen.model.chosen_path, layout.model_code),
        ):
            if path.endswith(".py"):
                kept.write_text(Path(path).read_text())
        return layout

    return made
