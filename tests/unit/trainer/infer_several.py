"""Builds models with plain Keras, evaluates data with them, and says what plain Keras finds.

``python infer_several.py FOLDER RUN_DIR...``: the models of :func:`build_models` are saved into
the folder first. Devices are configured once, by the plan of the first run. Each run gets a
``keras.npz`` with what Keras's ``predict`` gives for the same examples, and an ``ended.json``: how
it ended, or the problems.
"""

import json
import sys
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf

from gpupanel.domain.problem import ProblemError
from gpupanel.domain.profile import Profile
from gpupanel.domain.run_layout import RunLayout
from gpupanel.trainer.datasets.source import Reading
from gpupanel.trainer.device_configuration import configure_devices
from gpupanel.trainer.event_writer import EventWriter
from gpupanel.trainer.inference.examples import InferenceExamples, read_inference_examples
from gpupanel.trainer.inference.infer import Inference
from gpupanel.trainer.interruptions import Interruptions
from gpupanel.trainer.progress import TrainingRecord
from gpupanel.trainer.started_run import read_started_run
from tests.fakes.checked_files import as_checked


def build_models(folder: Path) -> None:
    """One for each way in which people end their models."""
    keras.utils.set_random_seed(3)
    layers = keras.layers
    flat = [keras.Input((8, 8)), layers.Rescaling(1 / 16), layers.Flatten()]
    hidden = layers.Dense(16, activation="relu")

    def save(name: str, *more: keras.Layer, inputs: tuple = (*flat, hidden)) -> keras.Model:
        model = keras.Sequential([*inputs, *more])
        model.save(folder / f"{name}.keras")
        return model

    save("softmax_activation", layers.Dense(10, activation="softmax"))
    save("softmax_layer", layers.Dense(10), layers.Softmax())
    save("logits", layers.Dense(10))
    save("sigmoids", layers.Dense(10, activation="sigmoid"))
    save("three_classes", layers.Dense(3, activation="softmax"))
    save("one_linear", layers.Dense(1))
    save("one_sigmoid", layers.Dense(1, activation="sigmoid"))
    image = (keras.Input((8, 8, 1)), layers.Conv2D(4, 3), layers.Flatten())
    save("channel", layers.Dense(10, activation="softmax"), inputs=image)
    save("flat_rows", layers.Dense(10), inputs=(keras.Input((64,)),))
    save("other_shape", layers.Dense(10), inputs=(keras.Input((9, 9)), layers.Flatten()))
    small = (keras.Input((4, 4, 1)), layers.Rescaling(1 / 255), layers.Flatten())
    save("small_pictures", layers.Dense(2, activation="softmax"), inputs=small)
    save("house_price", layers.Dense(1), inputs=(keras.Input((3,)),))
    rates = layers.Dense(1, activation="sigmoid")
    save("house_sigmoid", rates, inputs=(keras.Input((3,)), layers.Rescaling(1e-3)))
    broken = save("broken", layers.Dense(10))
    broken.layers[-1].set_weights([np.full((16, 10), np.nan), np.ones(10)])
    broken.save(folder / "broken.keras")
    built_by_call = keras.Sequential([layers.Flatten(), layers.Dense(10)])
    built_by_call(np.zeros((1, 8, 8), np.float32))
    built_by_call.save(folder / "built_by_call.keras")
    features = keras.Input((8, 8))
    last = layers.Dense(10)(layers.Flatten()(layers.Rescaling(1 / 16)(features)))
    keras.Model(features, keras.ops.softmax(last)).save(folder / "softmax_operation.keras")
    for name, ends in (("named", {"classes": layers.Softmax()(last)}), ("listed", [last])):
        keras.Model({"image": features}, ends).save(folder / f"{name}_output.keras")
    two = [layers.Dense(10)(layers.Flatten()(features)), layers.Dense(2)(last)]
    keras.Model(features, two).save(folder / "two_outputs.keras")


def infer(layout: RunLayout) -> None:
    run = read_started_run(layout, as_checked(layout))
    record = TrainingRecord()
    try:
        examples = read_inference_examples(run.profile, Reading(print))
        with EventWriter(layout.events) as events:
            interruptions = Interruptions(layout.requests, events)
            ended = Inference(run, examples, events, interruptions, record).infer()
    except ProblemError as error:
        reported = {"problems": [problem.model_dump(mode="json") for problem in error.problems]}
        (layout.root / "ended.json").write_text(json.dumps(reported))
        return
    reported = {"ended": ended.name if ended else None, "examples": record.examples}
    (layout.root / "ended.json").write_text(json.dumps(reported))
    np.savez(layout.root / "keras.npz", **found_by_keras(run.profile, examples))


FOUND: dict[str, dict[str, np.ndarray]] = {}
"""By model and examples: what Keras finds does not depend on shares and task."""


def found_by_keras(profile: Profile, examples: InferenceExamples) -> dict[str, np.ndarray]:
    key = f"{profile.model} {profile.data} {profile.inference.examples}"
    if key not in FOUND:
        model = keras.models.load_model(profile.model.path, compile=False)
        # Not as a graph: tracing it takes longer than all that is measured.
        model.run_eagerly = True
        features = examples.read(0, len(examples)).reshape(-1, *model.input_shape[1:])
        outputs = model.predict(features, batch_size=300, verbose=0)
        (outputs,) = keras.tree.flatten(outputs)  # one may have a name
        FOUND[key] = {"outputs": outputs}
        if examples.labels is not None:
            FOUND[key]["labels"] = examples.labels
            FOUND[key]["measured"] = np.asarray(measured(model, features, examples.labels))
    return FOUND[key]


def measured(model: keras.Model, features: np.ndarray, labels: np.ndarray) -> list[float]:
    """Loss and measure by Keras's own evaluation, as people would compile the model."""
    last = model.layers[-1]
    linear = getattr(last, "activation", None) is keras.activations.linear
    if labels.dtype == np.float32:
        model.compile(loss="mse", metrics=["mae"], run_eagerly=True)
    elif model.output_shape[-1] == 1:
        loss = keras.losses.BinaryCrossentropy(from_logits=linear)
        accuracy = keras.metrics.BinaryAccuracy(threshold=0.0 if linear else 0.5)
        model.compile(loss=loss, metrics=[accuracy], run_eagerly=True)
    else:
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=linear)
        model.compile(loss=loss, metrics=["accuracy"], run_eagerly=True)
    return [float(value) for value in model.evaluate(features, labels, batch_size=300, verbose=0)]


layouts = [RunLayout(Path(argument)) for argument in sys.argv[2:]]
configure_devices(read_started_run(layouts[0]).plan)
# Rewriting each graph before it is first run takes a sixth of the time of so short a run.
tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})
build_models(Path(sys.argv[1]))
for one in layouts:
    infer(one)
