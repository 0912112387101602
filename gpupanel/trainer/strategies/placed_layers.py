"""Layers of one model on several devices."""

from collections.abc import Mapping, Sequence
from math import prod

import keras
import tensorflow as tf

from gpupanel.domain.event_details import PlacedLayer
from gpupanel.domain.model import ModelSettings
from gpupanel.domain.placement import LayerSize, place_layers
from gpupanel.domain.plan import LogicalPlace
from gpupanel.trainer.datasets.split import Split
from gpupanel.trainer.models.network import Building, layers_of, network_of
from gpupanel.trainer.parts.placed_layer import put_on_device
from gpupanel.trainer.started_run import StartedRun


class PlacedLayers:
    """Puts each layer that it is shown on its place, where it is built and called from then on.

    Weights are made within ``build``, so they live there too, and what an optimizer keeps for a
    weight is made beside it.
    """

    def __init__(self, places: Sequence[Sequence[LogicalPlace]], chosen: Mapping[str, int]) -> None:
        """Places nothing yet.

        Args:
            places: Logical devices of this process, as many of each replica.
            chosen: The index of the place of each layer, by name.
        """
        self._places = places
        self._chosen = chosen

    def __call__(self, layer: keras.layers.Layer) -> None:
        """Place a layer that is not built yet."""
        place = self._chosen[layer.name]
        put_on_device(layer, *(of_replica[place].logical_device for of_replica in self._places))

    def placed(self, model: keras.Model) -> tuple[PlacedLayer, ...]:
        """Where the layers of a model went, in their order; those of each replica."""
        return tuple(
            PlacedLayer(
                name=layer.name,
                place=replica * len(places) + place,
                device_key=places[place].device_key,
                logical_device=places[place].logical_device,
                parameters=layer.count_params(),
            )
            for replica, places in enumerate(self._places)
            for layer in layers_of(model)
            for place in [self._chosen.get(layer.name)]
            if place is not None
        )


def choose_places(run: StartedRun, split: Split) -> PlacedLayers:
    """Where the layers go of the model that is about to be built.

    Raises:
        ProblemError: The profile names a layer or a device that is not there.
    """
    sizes = layer_sizes(run.profile.model, Building(split.data, split.training))
    chosen = place_layers(
        sizes,
        run.profile.strategy.placement,
        places=run.plan.stage_count,
        batch_size=run.plan.global_batch_size,
    )
    names = (size.name for size in sizes)
    places = [run.plan.places_of(number) for number in range(len(run.plan.replicas))]
    return PlacedLayers(places, dict(zip(names, chosen, strict=True)))


def layer_sizes(model: ModelSettings, building: Building) -> tuple[LayerSize, ...]:
    """The layers of a model in their order.

    They are built once in the host's memory, which has room for what no device could hold alone,
    and forgotten.
    """
    with tf.device("/device:CPU:0"):
        inputs = building.inputs
        built = keras.Model(inputs, network_of(model).outputs(model, inputs, building))
    return tuple(
        LayerSize(layer.name, layer.count_params(), prod(layer.output.shape[1:]))
        for layer in layers_of(built)
    )
