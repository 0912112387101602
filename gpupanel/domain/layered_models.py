"""Models that are built layer by layer, one after the other: dense, and convolutional ones."""

from typing import ClassVar, Literal

from typing_extensions import override

from gpupanel.domain.choice import Choice
from gpupanel.domain.kind import kind
from gpupanel.domain.layers import Stack
from gpupanel.domain.model_kind import (
    ExampleKind,
    Model,
    Units,
    batch_norm_setting,
    dropout_setting,
    hidden_setting,
    synchronized_setting,
)
from gpupanel.domain.setting import setting
from gpupanel.domain.value import Fraction, PositiveInt

MOST_CONVOLUTIONS = 14
"""Each halves both sides of an image: the last one leaves a pixel of a side of 16,384."""
AFTER_HIDDEN = "after each hidden layer, or before the output where there is none"


class MlpModel(Model):
    """Dense layers with ReLU between them."""

    source: Literal["mlp"] = kind(
        Choice(
            "mlp",
            "MLP: dense layers",
            ("Every unit is connected to all units of the layer before; for any data."),
        )
    )
    hidden: Units = hidden_setting(default=(128,))
    dropout: Fraction = dropout_setting(AFTER_HIDDEN)
    batch_norm: bool = batch_norm_setting("hidden layer")
    batch_norm_synchronized: bool = synchronized_setting(applies={"batch_norm": (True,)})

    module: ClassVar[str] = "layered"
    is_divided: ClassVar[bool] = True

    @property
    @override
    def stack(self) -> Stack:
        return Stack((), self.hidden, self.dropout, self.batch_norm)

    @property
    @override
    def synchronizes_batch_norm(self) -> bool:
        return self.batch_norm_synchronized


class CnnModel(Model):
    """3x3 convolutions, each followed by ReLU and 2x2 max pooling, then dense layers."""

    source: Literal["cnn"] = kind(
        Choice("cnn", "CNN: convolutions", "Small filters slide over the image; for images.")
    )
    filters: tuple[PositiveInt, ...] = setting(
        "Filters",
        "How many 3x3 filters each convolution has, from the first to the last. After each one "
        "the image is halved in height and width by 2x2 max pooling.",
        default=(32,),
        examples=[[32, 64]],
        min_length=1,
        max_length=MOST_CONVOLUTIONS,
    )
    hidden: Units = hidden_setting(default=())
    dropout: Fraction = dropout_setting(AFTER_HIDDEN)
    batch_norm: bool = batch_norm_setting("convolution and hidden layer")
    batch_norm_synchronized: bool = synchronized_setting(applies={"batch_norm": (True,)})

    module: ClassVar[str] = "layered"
    is_divided: ClassVar[bool] = True
    takes: ClassVar[ExampleKind] = ExampleKind.IMAGES

    @property
    @override
    def stack(self) -> Stack:
        return Stack(self.filters, self.hidden, self.dropout, self.batch_norm)

    @property
    @override
    def least_side(self) -> int:
        return self.stack.smallest_side

    @property
    @override
    def synchronizes_batch_norm(self) -> bool:
        return self.batch_norm_synchronized
