"""Exports models in every form, beside the data and without it: JSON on stdout."""

import json
import sys
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf
from PIL import Image

from gpupanel.domain.data import ImagesData, NpzData
from gpupanel.domain.model_export import ModelExportRequest
from gpupanel.trainer.tools.model_export import export_model

folder = Path(sys.argv[1])
random = np.random.default_rng(2)
x = random.integers(0, 256, (90, 12, 12, 3), np.uint8)
np.savez(folder / "data.npz", x=x, y=np.arange(90) % 3)
for number, pixels in enumerate(x[:30]):
    path = folder / "images" / "abc"[number % 3] / f"{number}.png"
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels).save(path)
    if number % 4 == 0:
        path.write_bytes(path.read_bytes()[:60])
    if number >= 27:
        (folder / "broken" / path.parent.name).mkdir(parents=True)
        (folder / "broken" / path.parent.name / "x.png").write_text("no image")
inputs = keras.Input((12, 12, 3))
hidden = keras.layers.Conv2D(8, 3, activation="relu")(keras.layers.Rescaling(1 / 255)(inputs))
hidden = keras.layers.BatchNormalization()(hidden)
hidden = keras.layers.GlobalAveragePooling2D()(hidden)
model = keras.Model(inputs, keras.layers.Dense(3, activation="softmax")(hidden))
model.save(folder / "model.keras")
small = keras.Input((12, 12, 3))
shrunk = keras.layers.Resizing(6, 6, interpolation="bicubic")(small)
outputs = keras.layers.Dense(3)(keras.layers.Flatten()(shrunk))
keras.Model(small, outputs).save(folder / "bicubic.keras")
keras.config.set_dtype_policy("mixed_bfloat16")
part = keras.Sequential([keras.layers.Conv2D(4, 3, activation="relu"), keras.layers.Flatten()])
hidden = part(keras.layers.Rescaling(1 / 255)(small))
outputs = keras.layers.Dense(3, activation="softmax", dtype="float32")(hidden)
keras.Model(small, outputs).save(folder / "mixed.keras")
keras.config.set_dtype_policy("float32")

CASES = {
    "savedmodel": ("savedmodel", None, "data.npz", "folder"),
    "savedmodel again": ("savedmodel", None, "data.npz", "folder"),
    "tflite": ("tflite", None, "data.npz", "a.tflite"),
    "float16": ("tflite", "float16", "data.npz", "b.tflite"),
    "int8": ("tflite", "int8", "data.npz", "c.tflite"),
    "without data": ("tflite", None, "gone.npz", "d.tflite"),
    "int8 without data": ("tflite", "int8", "gone.npz", "e.tflite"),
    "int8 of images": ("tflite", "int8", "images", "j.tflite"),
    "int8 of broken images": ("tflite", "int8", "broken", "k.tflite"),
    "keras": ("keras", None, "data.npz", "g.keras"),
    "mixed": ("tflite", None, "data.npz", "h.tflite"),
    "mixed savedmodel": ("savedmodel", None, "data.npz", "mixed folder"),
    "bicubic": ("tflite", None, "data.npz", "i.tflite"),
    "no model": ("tflite", None, "data.npz", "f.tflite"),
    "without folder": ("tflite", None, "data.npz", "none/g.tflite"),
}


def data_in(path):
    is_file = path.suffix == ".npz"
    return NpzData(path=str(path)) if is_file else ImagesData(path=str(path), image_size=(12, 12))


MODELS = {"no": "gone.keras", "mixed": "mixed.keras", "bicubic": "bicubic.keras"}
found = {}
for name, (form, quantization, data, output) in CASES.items():
    request = ModelExportRequest(
        model=str(folder / MODELS.get(name.partition(" ")[0], "model.keras")),
        output=str(folder / output),
        model_format=form,
        quantization=quantization,
        data=data_in(folder / data),
    )
    found[name] = export_model(request).model_dump(mode="json")
# What was written is what it says.
wanted = model(x[:4].astype(np.float32)).numpy()
loaded = tf.saved_model.load(str(folder / "folder"))
served = loaded.serve(x[:4].astype(np.float32)).numpy()
found["served"] = float(np.abs(served - wanted).max())
json.dump(found, sys.stdout)
