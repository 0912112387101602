"""Builds models of many endings, and prints what is found of each: ``python model_endings.py``."""

import json
import sys
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf

from gpupanel.domain.data import Target
from gpupanel.domain.model import Outputs, SavedModel
from gpupanel.domain.problem import ProblemError
from gpupanel.planning.script.ending import ending_functions
from gpupanel.trainer.datasets.examples import DataSet, Examples
from gpupanel.trainer.models.build import build_model
from gpupanel.trainer.models.ending import ending_of_configuration
from gpupanel.trainer.models.model_file import configuration_in
from gpupanel.trainer.models.network import Building
from gpupanel.trainer.models.saved_ending import plain_ending
from gpupanel.trainer.parts.model_ending import before_ending, ending_of

layers, ops = keras.layers, keras.ops
FEATURES = np.random.default_rng(0).normal(size=(7, 4)).astype(np.float32) * 3


class Own(layers.Layer):
    """A layer of somebody's own, which ends in a softmax without saying so."""

    def __init__(self) -> None:
        super().__init__()
        self.dense = layers.Dense(3)

    def build(self, shape: tuple[int, ...]) -> None:
        self.dense.build(shape)

    def call(self, given: tf.Tensor) -> tf.Tensor:
        return tf.nn.softmax(self.dense(given))


def sequential(*stack: layers.Layer) -> keras.Sequential:
    return keras.Sequential(list(stack))


def models() -> dict[str, keras.Model]:
    keras.utils.set_random_seed(1)
    given = keras.Input((4,))
    hidden = layers.Dense(16, activation="relu")(given)
    softmax = layers.Dense(3, activation="softmax")
    images = layers.Conv2D(3, 1, activation="relu")(layers.Reshape((4, 4, 1))(hidden))
    ends = {
        "dense": softmax(hidden),
        "logits": layers.Dense(3)(hidden),
        "nested": sequential(layers.Dense(5), layers.Dense(3, activation="softmax"))(given),
        "nested twice": sequential(sequential(layers.Dense(3), layers.Softmax()))(given),
        "function": ops.softmax(layers.Dense(3)(hidden)),
        "function of nn": ops.nn.softmax(layers.Dense(3)(hidden)),
        "reshape": layers.Reshape((3,))(layers.Dense(3, activation="softmax")(hidden)),
        "flatten": layers.Flatten()(layers.Softmax()(layers.Reshape((1, 3))(softmax(hidden)))),
        "dropout": layers.Dropout(0.5)(layers.Dense(3, activation="softmax")(hidden)),
        "cast": ops.cast(layers.Dense(3, activation="softmax")(hidden), "float16"),
        "linear activation": layers.Activation("linear", dtype="float32")(
            layers.Dense(3, activation="softmax")(hidden)
        ),
        "own layer": Own()(hidden),
        "mean of places": layers.GlobalAveragePooling2D()(images),
        "softmax of places": layers.Softmax()(layers.GlobalAveragePooling2D()(images)),
        "normalised": layers.BatchNormalization()(layers.Dense(3)(hidden)),
        "scaled": layers.Rescaling(0.1)(layers.Dense(3)(hidden)),
        "percent": layers.Rescaling(100.0)(layers.Dense(3, activation="softmax")(hidden)),
        "mean of two": layers.Average()(
            [layers.Dense(3, activation="softmax")(hidden) for _ in range(2)]
        ),
        "groups": layers.Flatten()(
            layers.Softmax()(layers.Reshape((2, 3))(layers.Dense(6)(hidden)))
        ),
        "relu": layers.Dense(3, activation="relu")(hidden),
        "sigmoid": layers.Dense(3, activation="sigmoid")(hidden),
        "sigmoid function": ops.sigmoid(layers.Dense(3)(hidden)),
        "sigmoids": layers.Concatenate()(
            [layers.Dense(1, activation="sigmoid")(hidden) for _ in range(3)]
        ),
    }
    logits = layers.Dense(3)(hidden)
    roots = ops.sqrt(ops.softmax(logits))
    places = layers.Softmax(axis=1)(layers.Reshape((3, 1))(logits))
    ends |= {
        "tempered": ops.softmax(logits / 2.5),
        "tempered afterwards": roots / ops.sum(roots, axis=-1, keepdims=True),
        "logarithms": ops.log_softmax(logits),
        "softmax of examples": ops.softmax(logits, axis=0),
        "softmax of another axis": layers.Reshape((3,))(places),
        "mixture": ops.matmul(
            ops.softmax(logits), ops.convert_to_tensor(np.eye(3, dtype=np.float32)[[1, 0, 2]])
        ),
        "mixture of two": layers.Reshape((3,))(
            layers.Dot(axes=1)(
                [
                    layers.Reshape((2, 1))(layers.Dense(2, activation="softmax")(hidden)),
                    ops.stack([ops.softmax(logits), softmax(hidden)], axis=1),
                ]
            )
        ),
        "attention": layers.Reshape((3,))(
            layers.Dot(axes=1)(
                [
                    layers.Reshape((2, 1))(layers.Dense(2, activation="softmax")(hidden)),
                    layers.Reshape((2, 3))(layers.Dense(6)(hidden)),
                ]
            )
        ),
        "clipped": ops.clip(logits, 0.0, 1.0),
        "recurrent": layers.LSTM(3)(layers.Reshape((4, 4))(hidden)),
    }
    return {name: keras.Model(given, end) for name, end in ends.items()}


def difference(model: keras.Model, ending: str) -> float | None:
    """How far probabilities are apart that are computed again from what is before the ending."""
    if ending not in ("softmax", "sigmoid"):
        return None
    wanted = model(FEATURES, training=False).numpy()
    before = before_ending(model, ending)(FEATURES, training=False)
    again = (tf.nn.softmax if ending == "softmax" else tf.sigmoid)(tf.cast(before, tf.float32))
    return float(abs(again - wanted).numpy().max())


def trained_further(path: Path, outputs: Outputs | None, target: Target) -> float | str:
    """How far the model that a run would save is from the one in the file; or a problem's code."""
    labels = np.zeros((7, 3) if target is Target.LABELS else 7, np.float32)
    examples = Examples(FEATURES, labels if target is Target.LABELS else labels.astype(np.int32))
    data = DataSet(examples, class_names=("a", "b", "c"))
    try:
        built = build_model(SavedModel(path=str(path), outputs=outputs), Building(data, examples))
    except ProblemError as error:
        return error.problems[0].code
    wanted = keras.saving.load_model(path, compile=False)(FEATURES, training=False)
    # Saved, and trained again: what stands around it is taken off again.
    built.plain().save(path.with_name("again.keras"))
    again = SavedModel(path=str(path.with_name("again.keras")), outputs=None)
    found = build_model(again, Building(data, examples)).plain()(FEATURES, training=False)
    return float(abs(found - wanted).numpy().max())


def trained_again(model: keras.Model, folder: Path) -> float:
    """How far a model is from itself whose outputs a person says, trained further and again."""
    examples = Examples(FEATURES, np.zeros(7, np.int32))
    building = Building(DataSet(examples, class_names=("a", "b", "c")), examples)
    path = folder / "mean of two.keras"
    model.save(path)
    wanted = keras.saving.load_model(path, compile=False)(FEATURES, training=False)
    for _ in range(2):
        said = SavedModel(path=str(path), outputs=Outputs.PROBABILITIES)
        path = folder / "trained.keras"
        build_model(said, building).plain().save(path)
    found = keras.saving.load_model(path, compile=False)(FEATURES, training=False)
    return float(abs(found - wanted).numpy().max())


def main(folder: Path) -> None:
    script: dict[str, object] = {"keras": keras, "tf": tf, "np": np}
    exec(ending_functions(), script)
    made = models()
    endings = {name: ending_of(model) for name, model in made.items()}
    in_script = {name: script["ending_of"](model) for name, model in made.items()}
    further: dict[str, float | str] = {}
    cases = [("nested", None), ("function", None), ("reshape", None), ("mean of two", None)]
    cases += [("mean of two", Outputs.PROBABILITIES), ("nested", Outputs.LOGITS)]
    for name, said in cases:
        path = folder / "given.keras"
        made[name].save(path)
        further[f"{name}, {said}"] = trained_further(path, said, Target.CLASSES)
    further["again, said"] = trained_again(made["mean of two"], folder)
    made["sigmoids"].save(folder / "given.keras")
    further["labels"] = trained_further(folder / "given.keras", None, Target.LABELS)
    built = {}
    for name, model in made.items():
        if name == "own layer":  # only its own code could build it again
            continue
        model.save(folder / f"{name}.keras")
        configuration = configuration_in(str(folder / f"{name}.keras"))
        built[name] = plain_ending(configuration), ending_of_configuration(configuration)
    # What is taken off them is taken off last.
    differences = {name: difference(model, endings[name]) for name, model in made.items()}
    print(json.dumps([endings, in_script, differences, further, built]))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
