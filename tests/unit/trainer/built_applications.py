"""Builds an architecture of Keras's and prints, as JSON, what became of it.

``python built_applications.py FOLDER [--details] NAME``: the greatest difference of the trained and
the saved model's outputs; in detail also that of grey images, how many weights learn with each
kind of frozen layers, what comes of files of weights, and the code of one that is refused.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

os.environ["CUDA_VISIBLE_DEVICES"] = "-1"

import keras
import numpy as np

from gpupanel.domain.model import ApplicationModel
from gpupanel.domain.problem import ProblemError
from gpupanel.trainer.datasets.examples import DataSet, Examples
from gpupanel.trainer.models.build import BuiltModel, build_model
from gpupanel.trainer.models.network import Building

COUNT = 4


def data_of(*shape: int) -> DataSet:
    pixels = np.random.default_rng(0).integers(0, 256, (COUNT, *shape), dtype=np.uint8)
    labels = np.arange(COUNT, dtype=np.int32) % 2
    return DataSet(Examples(pixels, labels), class_names=("a", "b"))


def built(model: ApplicationModel, data: DataSet) -> BuiltModel:
    keras.backend.clear_session()
    keras.utils.set_random_seed(1)
    return build_model(model, Building(data, data.training))


def saved_difference(made: BuiltModel, data: DataSet, folder: Path) -> float:
    pixels = data.training.features.astype(np.float32)
    path = folder / "model.keras"
    made.plain().save(path)
    again = keras.models.load_model(path)  # in safe mode
    expected = keras.ops.softmax(made.trained(pixels))
    return float(np.abs(np.asarray(expected) - np.asarray(again(pixels))).max())


def learning(name: str, data: DataSet, frozen: object) -> int:
    model = ApplicationModel(source=name, frozen_layers=frozen)
    return len(built(model, data).trained.trainable_variables)


def refused(model: ApplicationModel, data: DataSet) -> str:
    try:
        built(model, data)
    except ProblemError as error:
        return error.problems[0].code
    return ""


def of_weights(name: str, folder: Path) -> dict[str, Any]:
    make, side = getattr(keras.applications, name), ApplicationModel(source=name).least_side
    data = data_of(side, side, 3)
    keras.utils.set_random_seed(9)
    whole = make(weights=None, input_shape=(side, side, 3))
    whole.save_weights(folder / "whole.weights.h5")
    base = make(weights=None, include_top=False, input_shape=(side, side, 3))
    base.save_weights(folder / "base.weights.h5")
    keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)]).save_weights(
        folder / "other.weights.h5"
    )
    found = {}
    for kind, source in (("whole", whole), ("base", base)):
        model = ApplicationModel(source=name, weights=str(folder / f"{kind}.weights.h5"))
        loaded = built(model, data).trained.get_layer("base")
        expected = source.get_weights()[: len(loaded.weights)]
        found[kind] = all(map(np.array_equal, loaded.get_weights(), expected))
    other = ApplicationModel(source=name, weights=str(folder / "other.weights.h5"))
    return {**found, "other": refused(other, data)}


folder, (*details, name) = Path(sys.argv[1]), sys.argv[2:]
side = ApplicationModel(source=name).least_side
colour, grey = data_of(side, side, 3), data_of(side, side)
model = ApplicationModel(source=name)
answer: dict[str, Any] = {"difference": saved_difference(built(model, colour), colour, folder)}
if details == ["--details"]:
    answer |= {
        "grey": saved_difference(built(model, grey), grey, folder),
        "learning": [learning(name, grey, frozen) for frozen in ("none", "base", 1, 2, 10_000)],
        "weights": of_weights(name, folder),
    }
print(json.dumps(answer))
