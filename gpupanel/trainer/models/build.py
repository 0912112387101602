"""From model settings to the Keras model that is trained, and to the one that is saved."""

from dataclasses import dataclass, replace

import keras

from gpupanel.domain.data import Target
from gpupanel.domain.model import BuildableModel
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.trainer.datasets.examples import DataSet, Examples
from gpupanel.trainer.models.network import LayerHook, Network
from gpupanel.trainer.models.python_network import PythonNetwork
from gpupanel.trainer.models.statistics import statistics
from gpupanel.trainer.user_code import UserCode

_ANOTHER_MODEL = Problem(
    code="user_code_model_misfit",
    field="model.path",
    message="build_model() gave another model when it was called a second time, to save what was "
    "learned.",
    hint="Let it depend on input_shape and outputs only; the last checkpoint has the weights.",
)


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
    network: Network | PythonNetwork

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
            weights = layer.get_weights()
            made = model.get_layer(layer.name)
            if [weight.shape for weight in made.weights] != [weight.shape for weight in weights]:
                raise ProblemError(_ANOTHER_MODEL)
            made.set_weights(weights)
        return model


def build_model(
    settings: BuildableModel | UserCode,
    data: DataSet,
    training: Examples,
    *,
    across_replicas: bool,
    hook: LayerHook | None = None,
) -> BuiltModel:
    """Build the model; call it within the strategy's scope.

    Args:
        settings: What to build, or the code that builds it.
        data: Tells scaling and classes.
        training: The examples that statistics are taken of.
        across_replicas: Whether there is more than one replica.
        hook: Is shown every layer of the trained model before it is built; but not those that
            code builds.

    Raises:
        ProblemError: What the code builds cannot be trained here.
        Exception: Whatever the code raises.
    """
    plain: Network | PythonNetwork
    network: Network | PythonNetwork
    if isinstance(settings, UserCode):
        plain = network = PythonNetwork(settings, data, training)
    else:
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


def _inputs(network: Network | PythonNetwork) -> keras.KerasTensor:
    return keras.Input(network.training.feature_shape, name="features")
