"""An architecture of ``keras.applications``; see ``ApplicationModel`` in the domain."""

import importlib
from collections import Counter
from pathlib import Path

import keras
from typing_extensions import override

from gpupanel.domain.data import Scaling
from gpupanel.domain.layers import NORM_MOMENTUM
from gpupanel.domain.model import ApplicationModel
from gpupanel.files.keras_cache import place_of
from gpupanel.trainer.downloads.download import digest_of
from gpupanel.trainer.models.frozen_layers import last_learning, let_learn
from gpupanel.trainer.models.network import Building, Network
from gpupanel.trainer.models.scaling import are_from_0_to_1
from gpupanel.trainer.models.weights_file import check_weights_file, weights_problem
from gpupanel.trainer.parts.batch_norm import batch_norms
from gpupanel.trainer.parts.rgb_pixels import rgb_pixels

_BASE = "base"


class _Application(Network[ApplicationModel]):
    """Puts a head on the architecture, and before it what its weights were trained with."""

    @override
    def outputs(
        self, model: ApplicationModel, inputs: keras.KerasTensor, building: Building
    ) -> keras.KerasTensor:
        application = model.application
        family = importlib.import_module(f"keras.applications.{application.family.module}")
        pixels = family.preprocess_input(_pixels(inputs, building))

        def make() -> keras.Model:
            build = getattr(keras.applications, application.name)
            base = build(include_top=False, weights=None, input_shape=pixels.shape[1:])
            # Not as an argument: some look up their layers by it.
            base.name = _BASE
            _number(base)
            for norm in batch_norms(base):
                norm.momentum = NORM_MOMENTUM
            if building.begins:
                _load_weights(base, model)
            let_learn(_layers(base), last_learning(model.frozen_layers))
            return base

        base = building.made_whole(make)
        hidden = building.through(keras.layers.GlobalAveragePooling2D(name="mean"), base(pixels))
        if model.dropout:
            dropout = keras.layers.Dropout(model.dropout, name="dropout")
            hidden = building.through(dropout, hidden)
        # In float32 also under mixed precision: the loss is computed from it.
        last = keras.layers.Dense(building.output_count, name="outputs", dtype="float32")
        return building.through(last, hidden)

    @override
    def base_layers(
        self, model: ApplicationModel, trained: keras.Model
    ) -> list[keras.layers.Layer]:
        del model
        return _layers(trained.get_layer(_BASE))


def _number(base: keras.Model) -> None:
    """Layers that Keras names, by numbers that count within this model and not in the process."""
    counts = Counter[str]()
    for layer in base.layers:
        kind, _, number = layer.name.rpartition("_")
        kind = kind if number.isdecimal() else layer.name
        if kind.replace("_", "") == type(layer).__name__.lower():
            layer.name = f"{kind}_{counts[kind]}" if counts[kind] else kind
            counts[kind] += 1


def _layers(base: keras.Model) -> list[keras.layers.Layer]:
    return [layer for layer in base.layers if layer.weights]


def _pixels(inputs: keras.KerasTensor, building: Building) -> keras.KerasTensor:
    """From raw features to pixels from 0 to 255 in three colours."""
    data, greatest = building.data, 255.0
    if data.scaling is Scaling.DIVIDE:
        greatest = data.greatest
    elif data.scaling is Scaling.NONE and are_from_0_to_1(building.training):
        greatest = 1.0
    return rgb_pixels(inputs, greatest)


def _load_weights(base: keras.Model, model: ApplicationModel) -> None:
    """Give the architecture the weights that were chosen, if any were.

    Raises:
        ProblemError: They are not there, damaged, or those of another network.
    """
    if model.weights == "none":
        return
    published = model.application.weights if model.downloads else None
    path = model.weights if published is None else str(place_of(published))
    check_weights_file(path)
    if published is not None and digest_of(Path(path), published.digest) != published.digest:
        raise weights_problem(
            "weights_not_published",
            f"{path} is not the file of weights that Keras publishes for {model.source}.",
            f"Remove it: the next run downloads {published.url} again.",
        )
    try:
        base.load_weights(path)
    except Exception as error:
        # Whatever a file of another network, or of nothing that Keras wrote, makes of the reader.
        raise weights_problem(
            "weights_do_not_fit",
            f"The weights in {path} are not those of {model.source}.",
            "Choose weights of the same architecture, saved without its classifying layers or with "
            "them.",
            f"{type(error).__name__}: {error}",
        ) from error


NETWORK = _Application()
