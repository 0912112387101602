"""Prints what an architecture is given of arrays of several ranges."""

import json

import keras
import numpy as np

from gpupanel.domain.data import Scaling
from gpupanel.domain.model import ApplicationModel
from gpupanel.trainer.datasets.examples import DataSet, Examples
from gpupanel.trainer.models.build import build_model
from gpupanel.trainer.models.network import Building

PIXELS = np.random.default_rng(0).integers(0, 256, (6, 32, 32, 3)).astype(np.uint8)
ARRAYS = {
    "bytes": PIXELS,
    "floats": PIXELS.astype(np.float32),
    "from 0 to 1": PIXELS.astype(np.float32) / 255,
}


def given(features: np.ndarray) -> np.ndarray:
    """What comes to the first layer of the base."""
    examples = Examples(features, np.zeros(6, np.int32))
    are_bytes = features.dtype == np.uint8
    data = DataSet(
        examples,
        class_names=("a", "b"),
        scaling=Scaling.DIVIDE if are_bytes else Scaling.NONE,
        greatest=255.0 if are_bytes else 1.0,
    )
    settings = ApplicationModel(source="MobileNetV2", weights="none")
    model = build_model(settings, Building(data, examples)).plain()
    before = keras.Model(model.inputs, model.get_layer("base")._inbound_nodes[0].input_tensors[0])
    return np.asarray(before(features.astype(np.float32)))


if __name__ == "__main__":
    found = {name: given(features) for name, features in ARRAYS.items()}
    print(json.dumps({name: [float(x.min()), float(x.max())] for name, x in found.items()}))
