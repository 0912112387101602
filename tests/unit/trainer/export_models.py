"""Exports models in every form, beside the data and without it: JSON on stdout."""

import json
import sys
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf

from gpupanel.domain.data import NpzData
from gpupanel.domain.model_export import ModelExportRequest
from gpupanel.trainer.model_export import export_model

folder = Path(sys.argv[1])
random = np.random.default_rng(2)
x = random.integers(0, 256, (90, 12, 12, 3), np.uint8)
np.savez(folder / "data.npz", x=x, y=np.arange(90) % 3)
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
    "keras": ("keras", None, "data.npz", "g.keras"),
    "mixed": ("tflite", None, "data.npz", "h.tflite"),
    "mixed savedmodel": ("savedmodel", None, "data.npz", "mixed folder"),
    "bicubic": ("tflite", None, "data.npz", "i.tflite"),
    "no model": ("tflite", None, "data.npz", "f.tflite"),
    "without folder": ("tflite", None, "data.npz", "none/g.tflite"),
}
MODELS = {"no": "gone.keras", "mixed": "mixed.keras", "bicubic": "bicubic.keras"}
found = {}
for name, (form, quantization, data, output) in CASES.items():
    request = ModelExportRequest(
        model=str(folder / MODELS.get(name.partition(" ")[0], "model.keras")),
        output=str(folder / output),
        model_format=form,
        quantization=quantization,
        data=NpzData(path=str(folder / data)),
    )
    found[name] = export_model(request).model_dump(mode="json")
# What was written is what it says.
wanted = model(x[:4].astype(np.float32)).numpy()
loaded = tf.saved_model.load(str(folder / "folder"))
served = loaded.serve(x[:4].astype(np.float32)).numpy()
found["served"] = float(np.abs(served - wanted).max())
json.dump(found, sys.stdout)
