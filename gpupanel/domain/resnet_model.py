"""A residual network for small images."""

from math import prod
from typing import Annotated, ClassVar, Literal

from pydantic import Field
from typing_extensions import override

from gpupanel.domain.choice import Choice
from gpupanel.domain.kind import kind
from gpupanel.domain.model_kind import ExampleKind, Model, dropout_setting, synchronized_setting
from gpupanel.domain.setting import setting
from gpupanel.domain.value import Fraction, PositiveInt

MOST_STAGES = 6
"""Each after the first halves both sides: the last one sees 4x4 of 128x128 pixels."""
MOST_BLOCKS = 18
"""Blocks of ResNet-110, the deepest network for small images in the paper."""


class ResNetModel(Model):
    """Stages of residual blocks, then the mean over the image and the output.

    A block is two 3x3 convolutions with batch normalisation and a connection around them. With
    filters 16, 32, 64 it is the network for CIFAR-10 of He et al., "Deep Residual Learning for
    Image Recognition" (2015), section 4.2, but for the connection where the size changes, which is
    a 1x1 convolution: 3 blocks a stage are ResNet-20.
    """

    source: Literal["resnet"] = kind(
        Choice(
            "resnet",
            "ResNet: residual blocks",
            "Deep convolutions with skip connections; for images of 32 to 128 pixels.",
        )
    )
    filters: tuple[PositiveInt, ...] = setting(
        "Filters",
        "How many filters the convolutions of each stage have. Each stage after the first halves "
        "the image in height and width.",
        default=(16, 32, 64),
        min_length=1,
        max_length=MOST_STAGES,
    )
    blocks: Annotated[PositiveInt, Field(le=MOST_BLOCKS)] = setting(
        "Blocks in each stage",
        "Two convolutions each, with a skip connection. More can learn more, and take "
        "longer: 3 with filters 16, 32, 64 make ResNet-20.",
        default=2,
    )
    dropout: Fraction = dropout_setting("before the output")
    batch_norm_synchronized: bool = synchronized_setting()

    module: ClassVar[str] = "resnet"
    is_divided: ClassVar[bool] = True
    takes: ClassVar[ExampleKind] = ExampleKind.IMAGES
    is_suggested: ClassVar[bool] = True

    @property
    @override
    def least_side(self) -> int:
        return int(2 ** (len(self.filters) - 1))

    @override
    def least_weights(self, feature_shape: tuple[int, ...], outputs: int, token_count: int) -> int:
        """All of them, as every image has a channel axis when it comes to the first layer."""
        before = feature_shape[2] if len(feature_shape) == 3 else 1
        count = _convolution(3, before, self.filters[0])
        before = self.filters[0]
        for stage, filters in enumerate(self.filters):
            count += _convolution(3, before, filters)
            count += (2 * self.blocks - 1) * _convolution(3, filters, filters)
            if stage or filters != before:
                count += _convolution(1, before, filters)
            before = filters
        return count + (before + 1) * outputs

    @override
    def least_activations(self, feature_shape: tuple[int, ...]) -> int:
        """What each convolution gives."""
        count = 0
        for stage, filters in enumerate(self.filters):
            sides = [-(-side // 2**stage) for side in feature_shape[:2]]
            count += 2 * self.blocks * filters * prod(sides)
        return count

    @property
    @override
    def normalises_batches(self) -> bool:
        return True

    @property
    @override
    def synchronizes_batch_norm(self) -> bool:
        return self.batch_norm_synchronized


def _convolution(size: int, inputs: int, filters: int) -> int:
    """Numbers of a convolution without bias, and of the batch normalisation after it."""
    return size**2 * inputs * filters + 4 * filters
