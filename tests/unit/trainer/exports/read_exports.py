"""Reads exported models without gpupanel: ``python read_exports.py FOLDER``.

For each ``NAME.npz``, the inputs of some examples, it loads ``NAME.keras``, the SavedModel
``NAME``, ``NAME.tflite`` and ``NAME-trained.keras``, where they are there, and writes what each
gives by names, as ``FORMAT.npz`` within a folder ``NAME-read``.
"""

import sys
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf


def of_keras(path: Path, given: dict[str, np.ndarray]) -> object:
    model = keras.saving.load_model(path)
    return model.predict(given if len(given) > 1 else next(iter(given.values())), verbose=0)


def of_savedmodel(path: Path, given: dict[str, np.ndarray]) -> object:
    serve = tf.saved_model.load(str(path)).signatures["serving_default"]
    if len(given) == 1:
        (name,) = serve.structured_input_signature[1]
        given = {name: next(iter(given.values()))}
    return serve(**{name: tf.constant(each) for name, each in given.items()})


def of_tflite(path: Path, given: dict[str, np.ndarray]) -> object:
    run = tf.lite.Interpreter(str(path)).get_signature_runner()
    if len(given) == 1:
        given = {next(iter(run.get_input_details())): next(iter(given.values()))}
    return run(**given)


def main() -> None:
    folder = Path(sys.argv[1])
    for inputs in sorted(folder.glob("*.npz")):
        with np.load(inputs) as archive:
            given = {name: archive[name].astype(np.float32) for name in archive}
        ways = {
            "trained": (of_keras, folder / f"{inputs.stem}-trained.keras"),
            "keras": (of_keras, folder / f"{inputs.stem}.keras"),
            "savedmodel": (of_savedmodel, folder / inputs.stem),
            "tflite": (of_tflite, folder / f"{inputs.stem}.tflite"),
        }
        read = folder / f"{inputs.stem}-read"
        read.mkdir()
        for form, (call, path) in ways.items():
            if path.exists():
                found = call(path, given)
                named = found if isinstance(found, dict) else {"only": found}
                if len(named) == 1:
                    named = {"only": next(iter(named.values()))}
                np.savez(read / form, **{name: np.asarray(each) for name, each in named.items()})


main()
