"""From model settings to a Keras model, and the part of it that is trained."""

from dataclasses import dataclass

import keras

from gpupanel.domain.data import Target
from gpupanel.domain.model import BuildableModel, CnnModel
from gpupanel.trainer.datasets.examples import DataSet, Examples, Scaling
from gpupanel.trainer.models.fit_check import output_count
from gpupanel.trainer.models.statistics import Statistics, statistics


@dataclass(frozen=True, slots=True)
class BuiltModel:
    """Two models over the same layers.

    Attributes:
        trained: From raw features to logits (classes) or standardised values: what the loss is
            computed from, since it is exact there.
        saved: From raw features to class probabilities (a softmax over the logits) or to values
            in their own unit: what ``model.keras`` holds.
        value_unit: Standard deviation of the training labels, in their unit; 1 for classes.
        value_mean: Mean of the training labels; 0 for classes.
    """

    trained: keras.Model
    saved: keras.Model
    value_unit: float = 1.0
    value_mean: float = 0.0


def build_model(
    settings: BuildableModel, data: DataSet, training: Examples, *, across_replicas: bool
) -> BuiltModel:
    """Build the model; call it within the strategy's scope.

    The initial weights depend on Keras's seed alone. Batch normalisation takes its statistics
    over the whole global batch, whatever its split (``synchronized=True``), so that shares do
    not change the mathematics.

    Args:
        settings: What to build.
        data: Tells scaling and classes.
        training: The examples that statistics are taken of.
        across_replicas: Whether there is more than one replica.
    """
    inputs = keras.Input(training.feature_shape, name="features")
    hidden = _scaled(inputs, data, training)
    if isinstance(settings, CnnModel):
        hidden = _convolutions(hidden, settings, across_replicas=across_replicas)
    else:
        hidden = keras.layers.Flatten(name="flatten")(hidden)
    hidden = _dense(hidden, settings, across_replicas=across_replicas)
    outputs = output_count(data.target, len(data.class_names))
    logits = keras.layers.Dense(outputs, name="outputs", dtype="float32")(hidden)
    trained = keras.Model(inputs, logits, name="trained")
    if data.target is Target.CLASSES:
        probabilities = keras.layers.Softmax(name="probabilities", dtype="float32")(logits)
        return BuiltModel(trained, keras.Model(inputs, probabilities, name="model"))
    return _of_values(trained, statistics(training.labels))


def _of_values(trained: keras.Model, labels: Statistics) -> BuiltModel:
    unit, mean = float(labels.deviation), float(labels.mean)
    back = keras.layers.Rescaling(scale=unit, offset=mean, name="values", dtype="float32")
    saved = keras.Model(trained.input, back(trained.output), name="model")
    return BuiltModel(trained, saved, value_unit=unit, value_mean=mean)


def _scaled(inputs: keras.KerasTensor, data: DataSet, training: Examples) -> keras.KerasTensor:
    # In float32 also under mixed precision: raw values need not fit into a half.
    if data.scaling is Scaling.DIVIDE:
        layer = keras.layers.Rescaling(1.0 / data.greatest, name="pixels", dtype="float32")
    elif data.scaling is Scaling.STANDARDISE:
        features = training.in_memory
        if features is None:
            raise ValueError("statistics need features in memory")
        columns = statistics(features)
        layer = keras.layers.Normalization(
            mean=columns.mean, variance=columns.deviation**2, name="standardise", dtype="float32"
        )
    else:
        return inputs
    return layer(inputs)


def _convolutions(
    hidden: keras.KerasTensor, settings: CnnModel, *, across_replicas: bool
) -> keras.KerasTensor:
    if len(hidden.shape) == 3:
        hidden = keras.layers.Reshape((*hidden.shape[1:], 1), name="channel")(hidden)
    for number, filters in enumerate(settings.filters, start=1):
        name = f"convolution_{number}"
        # Batch normalisation subtracts any bias again.
        bias = not settings.batch_norm
        convolution = keras.layers.Conv2D(filters, 3, padding="same", use_bias=bias, name=name)
        hidden = convolution(hidden)
        if settings.batch_norm:
            hidden = _batch_norm(f"{name}_norm", across_replicas=across_replicas)(hidden)
        hidden = keras.layers.ReLU(name=f"{name}_relu")(hidden)
        hidden = keras.layers.MaxPooling2D(2, name=f"{name}_pool")(hidden)
    return keras.layers.Flatten(name="flatten")(hidden)


def _dense(
    hidden: keras.KerasTensor, settings: BuildableModel, *, across_replicas: bool
) -> keras.KerasTensor:
    for number, units in enumerate(settings.hidden, start=1):
        name = f"dense_{number}"
        bias = not settings.batch_norm
        hidden = keras.layers.Dense(units, use_bias=bias, name=name)(hidden)
        if settings.batch_norm:
            hidden = _batch_norm(f"{name}_norm", across_replicas=across_replicas)(hidden)
        hidden = keras.layers.ReLU(name=f"{name}_relu")(hidden)
        if settings.dropout:
            hidden = keras.layers.Dropout(settings.dropout, name=f"{name}_dropout")(hidden)
    if isinstance(settings, CnnModel) and settings.dropout and not settings.hidden:
        hidden = keras.layers.Dropout(settings.dropout, name="dropout")(hidden)
    return hidden


def _batch_norm(name: str, *, across_replicas: bool) -> keras.layers.Layer:
    return keras.layers.BatchNormalization(synchronized=across_replicas, name=name)
