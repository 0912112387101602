"""From model settings to the Keras model that is trained, and to the one that is saved."""

from dataclasses import dataclass

import keras

from gpupanel.domain.data import Target
from gpupanel.domain.model import ModelSettings
from gpupanel.domain.problem import Problem, ProblemError
from gpupanel.trainer.models.network import Building, network_of
from gpupanel.trainer.models.scaling import statistics

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
        settings: What it was built from.
        building: And with what.
    """

    trained: keras.Model
    value_unit: float
    value_mean: float
    settings: ModelSettings
    building: Building

    def plain(self) -> keras.Model:
        """The model as people use it, in Keras's own layers, with the weights of this moment.

        From raw features to class probabilities (a softmax over the logits) or to values in
        their own unit. Call it outside of the strategy's scope.
        """
        # Layers of Keras's own, wherever they stand.
        plain = Building(self.building.data, self.building.training, self.building.code)
        inputs = plain.inputs
        outputs = network_of(self.settings).outputs(self.settings, inputs, plain)
        if plain.data.target is Target.CLASSES:
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


def build_model(model: ModelSettings, building: Building) -> BuiltModel:
    """Build the model; call it within the strategy's scope.

    Raises:
        ProblemError: What code builds cannot be trained here.
        Exception: Whatever that code raises.
    """
    inputs = building.inputs
    outputs = network_of(model).outputs(model, inputs, building)
    trained = keras.Model(inputs, outputs, name="trained")
    unit, mean = 1.0, 0.0
    if building.data.target is not Target.CLASSES:
        labels = statistics(building.training.labels)
        unit, mean = float(labels.deviation), float(labels.mean)
    return BuiltModel(trained, unit, mean, model, building)
