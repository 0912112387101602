"""Makes data of each kind and models of it, exports them, and keeps what each model really gives.

The folder has ``images``, ``table.csv``, ``houses.csv`` and ``texts``; for each kind of export of a
model a folder with it and what stands beside it, ``expected.json``: outputs by name of model, and
``data.json``: the data's settings by name of model.
"""

import json
import sys
import zipfile
from datetime import date, timedelta
from pathlib import Path

import keras
import numpy as np
from PIL import Image

from gpupanel.domain.data import DigitsData, ImagesData, NpzData, TableData, TextData
from gpupanel.domain.model_export import ModelExportRequest
from gpupanel.domain.table_data import RECIPE_MEMBER
from gpupanel.trainer.datasets.source import Reading, no_download, read_data
from gpupanel.trainer.tools.model_export import export_model

ODD_NAMES = ('"""; import os', "$(touch here)", "red\x1b[31m", "ä 'ö'")

folder = Path(sys.argv[1])
random = np.random.default_rng(4)


def make_images() -> None:
    for number, name in enumerate(ODD_NAMES):
        place = folder / "images" / name
        place.mkdir(parents=True)
        for each in range(6):
            sides = (30 + 9 * each, 20 + 25 * number, 3)
            image = Image.fromarray(random.integers(0, 256, sides, np.uint8))
            image.save(place / (f"{each}.jpg" if each % 2 else f"{each}.png"))


def make_tables() -> None:
    rows = []
    for row in range(60):
        size = "" if row % 7 == 3 else f"{50 * random.random():.3f}"
        town = "NA" if row % 11 == 5 else ("Köln", "Bonn", "a, b")[row % 3]
        day = "-" if row % 13 == 2 else (date(2020, 1, 1) + timedelta(days=9 * row)).isoformat()
        rows.append([f"house {row}", size, town, day, ("cheap", "dear")[row % 2], 1000 + row])
    text = "name,size,town,built,class\n"
    for _, size, town, day, kind, _ in rows:
        text += f'x,{size},"{town}",{day},{kind}\n'
    (folder / "table.csv").write_text(text, encoding="utf-8")
    text = "size;built;rooms;price\n"
    for _, size, _, day, _, price in rows:
        shown = day if day == "-" else ".".join(reversed(day.split("-")))
        text += f"{size.replace('.', ',')};{shown};{price % 5};{price},25\n"
    (folder / "houses.csv").write_text(text, encoding="utf-8")


def make_texts() -> None:
    words = ["good", "bad", "Don't", "stop.", "ÄRGER", "naïve", "x1", "film!"]
    for number, name in enumerate(("no", "yes")):
        place = folder / "texts" / name
        place.mkdir(parents=True)
        for each in range(12):
            chosen = random.choice(words, 3 + 2 * each) if each else []
            (place / f"{each}.txt").write_text(" ".join([*chosen, words[number]] if each else ""))


def network(shape: tuple[int, ...], outputs: int, activation: str | None) -> keras.Model:
    inputs = keras.Input(shape)
    hidden = keras.layers.Flatten()(keras.layers.Rescaling(1 / 255)(inputs))
    hidden = keras.layers.Dense(8, activation="tanh")(hidden)
    return keras.Model(inputs, keras.layers.Dense(outputs, activation=activation)(hidden))


def network_of_words(length: int, words: int, outputs: int) -> keras.Model:
    inputs = keras.Input((length,))
    hidden = keras.layers.Embedding(words, 6, embeddings_initializer="normal")(inputs)
    hidden = keras.layers.GlobalAveragePooling1D()(hidden)
    return keras.Model(inputs, keras.layers.Dense(outputs, activation="sigmoid")(hidden))


make_images()
make_tables()
make_texts()
arrays = random.integers(0, 256, (20, 5, 4), np.uint8)
np.savez(folder / "arrays.npz", x=arrays.astype(np.float32), y=(arrays[:, :2, 0] > 128) * 1.0)
np.save(folder / "arrays.npy", arrays.astype(np.float32))
text_data = TextData(path=str(folder / "texts"), vocabulary=10, length=9)
CASES = {
    "images": (
        ImagesData(path=str(folder / "images"), image_size=(24, 16)),
        network((24, 16, 3), 4, "softmax"),
    ),
    "table": (
        TableData(path=str(folder / "table.csv"), target="class", ignore=("name",)),
        network((6,), 1, "sigmoid"),
    ),
    "houses": (
        TableData(path=str(folder / "houses.csv"), target="price", predicts="values"),
        network((3,), 1, None),
    ),
    "texts": (text_data, network_of_words(9, 10, 1)),
    "labels": (
        NpzData(path=str(folder / "arrays.npz"), predicts="labels"),
        network((5, 4), 2, None),
    ),
    "digits": (DigitsData(), network((8, 8), 10, None)),
}
expected, found = {}, {}
for name, (settings, model) in CASES.items():
    data = read_data(settings, Reading(no_download))
    path = folder / f"{name}.keras"
    model.save(path)
    if data.recipe:
        with zipfile.ZipFile(path, "a") as archive:
            archive.writestr(RECIPE_MEMBER, data.recipe)
    features = data.training.read(np.arange(len(data.training), dtype=np.int32))
    expected[name] = np.asarray(model(features.astype(np.float32))).tolist()
    for form in ("tflite",) if name in ("labels", "digits") else ("keras", "savedmodel", "tflite"):
        place = folder / f"{name} {form}"
        if form != "savedmodel":
            place.mkdir()
        request = ModelExportRequest(
            model=str(path),
            output=str(place if form == "savedmodel" else place / f"m.{form}"),
            model_format=form,
            data=settings,
            class_names=data.class_names,
        )
        done = export_model(request)
        assert done.problems == (), done.problems
        found[f"{name} {form}"] = done.largest_difference
# Without its data: the file of the model and the run's record say the rest.
gone = ModelExportRequest(
    model=str(folder / "images.keras"),
    output=str(folder / "gone.keras"),
    model_format="keras",
    data=ImagesData(path=str(folder / "gone"), image_size=(24, 16)),
    class_names=data.class_names[:4],
)
assert export_model(gone).problems == ()
(folder / "expected.json").write_text(json.dumps(expected))
settings_by_name = {name: data.model_dump(mode="json") for name, (data, _) in CASES.items()}
(folder / "data.json").write_text(json.dumps(settings_by_name))
(folder / "differences.json").write_text(json.dumps(found))
