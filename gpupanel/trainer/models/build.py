"""From model settings to the Keras model that is trained, and to the one that is saved."""

from dataclasses import dataclass, replace

import keras

from gpupanel.domain.data import Target
from gpupanel.domain.model import BuildableModel
from gpupanel.trainer.datasets.examples import DataSet, Examples
from gpupanel.trainer.models.network import LayerHook, Network
from gpupanel.trainer.models.statistics import statistics


@dataclass(frozen=True, slots=True)
class BuiltModel:
    """The model that is trained, and how to make the one that is saved.

    Attributes:
        trained: From raw features to logits (classes) or standardised values: what the loss is
            computed from, since it is exact there. Its layers may be made for a strategy.
        value_unit: Standard deviation of the training labels, in their unit; 1 for classes.
        value_mean: Mean of the training labels; 0 for classes.
        network: What it was built from.
    """

    trained: keras.Model
    value_unit: float
    value_mean: float
    network: Network

    def plain(self) -> keras.Model:
        """The model as people use it, in Keras's own layers, with the weights of this moment.

        From raw features to class probabilities (a softmax over the logits) or to values in
        their own unit. Call it outside of the strategy's scope.
        """
        network = self.network
        inputs = _inputs(network)
        outputs = network.outputs(inputs)
        if network.data.target is Target.CLASSES:
            last = keras.layers.Softmax(name="probabilities", dtype="float32")
        else:
            last = keras.layers.Rescaling(
                scale=self.value_unit, offset=self.value_mean, name="values", dtype="float32"
            )
        model = keras.Model(inputs, last(outputs), name="model")
        for layer in self.trained.layers:
            model.get_layer(layer.name).set_weights(layer.get_weights())
        return model


def build_model(
    settings: BuildableModel,
    data: DataSet,
    training: Examples,
    *,
    across_replicas: bool,
    hook: LayerHook | None = None,
) -> BuiltModel:
    """Build the model; call it within the strategy's scope.

    Args:
        settings: What to build.
        data: Tells scaling and classes.
        training: The examples that statistics are taken of.
        across_replicas: Whether there is more than one replica.
        hook: Is shown every layer of the trained model before it is built.
    """
    plain = Network(settings, data, training)
    synchronized = across_replicas and settings.batch_norm_synchronized
    network = replace(plain, synchronized=synchronized, hook=hook or plain.hook)
    inputs = _inputs(network)
    trained = keras.Model(inputs, network.outputs(inputs), name="trained")
    unit, mean = 1.0, 0.0
    if data.target is not Target.CLASSES:
        labels = statistics(training.labels)
        unit, mean = float(labels.deviation), float(labels.mean)
    return BuiltModel(trained, unit, mean, plain)


def _inputs(network: Network) -> keras.KerasTensor:
    return keras.Input(network.training.feature_shape, name="features")
