"""What the file of a kind of model offers: its ``NETWORK``, which builds the model's layers."""

import importlib
import math
import random
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

import keras

from gpupanel.domain.model import Model, ModelSettings
from gpupanel.trainer.datasets.examples import DataSet, Examples
from gpupanel.trainer.parts.placed_layer import on_the_host, put_beside_input
from gpupanel.trainer.user_code import RunCode

Settings = TypeVar("Settings", bound=Model, contravariant=True)
GivenInputs = keras.KerasTensor | Mapping[str, keras.KerasTensor]
"""Raw features; of several inputs all in a row, or by their names."""
LayerHook = Callable[[keras.layers.Layer], None]
"""Is shown a layer before it is built: it may decide where that happens."""


def _leave_as_it_is(layer: keras.layers.Layer) -> None:
    del layer


@dataclass(frozen=True, slots=True)
class Building:
    """What a model may need to be built.

    Attributes:
        data: Has scaling and classes.
        training: The examples that statistics are taken of.
        code: What a run has of the Python code that builds the model.
        across_replicas: Whether there is more than one replica.
        hook: Is shown every layer, but not those that code builds.
        begins: Whether its first weights matter; else others take their place.
        start_model: A run's copy of the saved model that is trained further; ``None``: the file
            itself is read.
        has_own_loss: Code of the person's own says what outputs mean: they stay as they are.
    """

    data: DataSet
    training: Examples
    code: RunCode | None = None
    across_replicas: bool = False
    hook: LayerHook = _leave_as_it_is
    begins: bool = True
    start_model: Path | None = None
    has_own_loss: bool = False

    @property
    def inputs(self) -> keras.KerasTensor:
        """Raw features, made anew; of several inputs all in a row."""
        return keras.Input(self.training.feature_shape, name="features")

    @property
    def inputs_apart(self) -> dict[str, keras.KerasTensor]:
        """Raw features of several inputs by their names, made anew; none where they are one."""
        return {each.name: keras.Input(each.shape, name=each.name) for each in self.data.inputs}

    @property
    def has_structure(self) -> bool:
        """Whether an example has several inputs, or its labels are arrays or of several outputs."""
        return bool(self.data.inputs) or self.data.arrays_of is not None

    @property
    def output_count(self) -> int:
        """Outputs of the last layer: one a class or label, or one a value that is predicted."""
        return math.prod(self.data.output_shape)

    def made_whole(self, make: Callable[[], keras.Model]) -> keras.Model:
        """A model that a library builds, of layers that are shown to the hook before.

        Args:
            make: Builds it, with the weights that it begins with.
        """
        if self.hook is _leave_as_it_is:
            return make()
        with on_the_host():
            whole = make()
        drawn = random.getstate()
        again = keras.models.clone_model(whole, clone_function=self._made_again, recursive=True)
        # Layers that come later draw what they draw without this.
        random.setstate(drawn)
        again.name = whole.name
        if self.begins:
            again.set_weights(whole.get_weights())
        for layer, before in zip(again.layers, whole.layers, strict=True):
            layer.trainable = before.trainable
        return again

    def _made_again(self, operation: keras.Operation) -> keras.Operation:
        again: keras.Operation = type(operation).from_config(operation.get_config())
        if isinstance(again, keras.layers.Layer):
            self.hook(again)
        else:
            put_beside_input(again)  # a sum of two tensors, say, which nobody can place
        return again

    def through(
        self,
        layer: keras.layers.Layer,
        *given: keras.KerasTensor | list[keras.KerasTensor],
        **more: keras.KerasTensor,
    ) -> keras.KerasTensor:
        """What a layer gives, which is shown to the hook before."""
        self.hook(layer)
        return layer(*given, **more)


def layers_of(model: keras.Model) -> Iterator[keras.layers.Layer]:
    """The layers of a model in their order, with those of models within it in their place."""
    for layer in model.layers:
        if isinstance(layer, keras.Model):
            yield from layers_of(layer)
        elif not isinstance(layer, keras.layers.InputLayer):
            yield layer


class Network(Protocol[Settings]):
    """Builds one kind of model; what else is asked about it stands in its settings."""

    @abstractmethod
    def outputs(
        self, model: Settings, inputs: keras.KerasTensor, building: Building
    ) -> keras.KerasTensor:
        """From raw features to what a loss is computed from; weights depend on Keras's seed alone.

        Raises:
            ProblemError: What code builds cannot be trained here.
            Exception: Whatever that code raises.
        """
        ...

    def base_layers(self, model: Settings, trained: keras.Model) -> list[keras.layers.Layer]:
        """The layers that ``frozen_layers`` is about, from the first to the last.

        Args:
            model: What it was built from.
            trained: Whose outputs are those of :meth:`outputs`.
        """
        del model, trained
        return []


def network_of(model: ModelSettings) -> Network[ModelSettings]:
    """What builds that model: the ``NETWORK`` in the file that its ``module`` names."""
    module = importlib.import_module(f"gpupanel.trainer.models.{model.module}")
    network: Network[ModelSettings] = module.NETWORK
    return network
