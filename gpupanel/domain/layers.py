"""The layers of a model that is built here, as Keras makes them.

They are said once: the trainer builds them, a script writes them, planning counts what they hold.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum


class LayerKind(StrEnum):
    """The classes of ``keras.layers`` that a model is made of, but for its first and last layer."""

    EMBEDDING = "Embedding"
    """Learns numbers for each word; 0 is none and counts no more."""
    MEAN = "GlobalAveragePooling1D"
    """The mean over the words of a text."""
    CHANNEL = "Reshape"
    """Gives images without a channel one; left out where they have theirs."""
    CONVOLUTION = "Conv2D"
    NORM = "BatchNormalization"
    RELU = "ReLU"
    POOL = "MaxPooling2D"
    FLATTEN = "Flatten"
    DENSE = "Dense"
    DROPOUT = "Dropout"


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer.

    Attributes:
        kind: Its class.
        name: Unlike those of the other layers.
        arguments: What Keras takes by position: units, filters and size of the kernel, a fraction.
        options: What it takes by keyword.
    """

    kind: LayerKind
    name: str
    arguments: tuple[int | float, ...] = ()
    options: tuple[tuple[str, str | bool | float], ...] = ()

    @property
    def units(self) -> int:
        """The units of a dense layer, or the filters of a convolution."""
        return int(self.arguments[0])

    @property
    def has_bias(self) -> bool:
        """Whether a dense layer or convolution adds a number to each output."""
        return ("use_bias", False) not in self.options


EMBEDDING_UNITS = 64
"""Numbers that a word becomes."""
NORM_MOMENTUM = 0.9
"""How much of the averages that batch normalisation uses in validation stays at each step.

With Keras's 0.99, and 0.999 in MobileNet, they are those of the first weights for hundreds of steps
yet, which are many epochs of few examples: validation is no better than a guess, and early stopping
keeps the first epoch. PyTorch has 0.9, as ``momentum=0.1``.
"""


def word_layers(token_count: int) -> tuple[Layer, ...]:
    """What makes features of the numbers of words, before all other layers; else none.

    Args:
        token_count: How many different numbers there are; 0: the features are no words.
    """
    if not token_count:
        return ()
    # In float32 also under mixed precision: a mean of many halves is none.
    whole = ("dtype", "float32")
    embedding = (token_count, EMBEDDING_UNITS), (("mask_zero", True), whole)
    return (
        Layer(LayerKind.EMBEDDING, "embedding", *embedding),
        Layer(LayerKind.MEAN, "embedding_mean", (), (whole,)),
    )


@dataclass(frozen=True, slots=True)
class Stack:
    """Convolutions, then dense layers, in the order in which an example passes them.

    Attributes:
        filters: Of each convolution; with one at least it needs images.
        hidden: Units of each dense layer before the output.
        dropout: The fraction of activations that is dropped in training.
        batch_norm: Whether batches are normalised after each convolution and hidden layer.
    """

    filters: tuple[int, ...]
    hidden: tuple[int, ...]
    dropout: float
    batch_norm: bool

    @property
    def smallest_side(self) -> int:
        """The least height and width of an image, in pixels: each pooling halves both."""
        return int(2 ** len(self.filters))

    @property
    def layers(self) -> tuple[Layer, ...]:
        """All but the last one, whose size depends on the data."""
        return (*self._convolutions(), Layer(LayerKind.FLATTEN, "flatten"), *self._dense())

    def _convolutions(self) -> Iterator[Layer]:
        if self.filters:
            yield Layer(LayerKind.CHANNEL, "channel")
        for number, filters in enumerate(self.filters, start=1):
            name = f"convolution_{number}"
            yield from self._activated(
                Layer(LayerKind.CONVOLUTION, name, (filters, 3), (("padding", "same"), *self._bias))
            )
            yield Layer(LayerKind.POOL, f"{name}_pool", (2,))

    def _dense(self) -> Iterator[Layer]:
        for number, units in enumerate(self.hidden, start=1):
            name = f"dense_{number}"
            yield from self._activated(Layer(LayerKind.DENSE, name, (units,), self._bias))
            if self.dropout:
                yield Layer(LayerKind.DROPOUT, f"{name}_dropout", (self.dropout,))
        if self.filters and self.dropout and not self.hidden:
            yield Layer(LayerKind.DROPOUT, "dropout", (self.dropout,))

    @property
    def _bias(self) -> tuple[tuple[str, str | bool], ...]:
        # Batch normalisation subtracts any bias again.
        return (("use_bias", False),) if self.batch_norm else ()

    def _activated(self, layer: Layer) -> Iterator[Layer]:
        yield layer
        if self.batch_norm:
            yield Layer(LayerKind.NORM, f"{layer.name}_norm", (), (("momentum", NORM_MOMENTUM),))
        yield Layer(LayerKind.RELU, f"{layer.name}_relu")
